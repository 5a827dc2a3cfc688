"""Files that were written without a look at the brief are graded by what they mean."""

import tomllib
from pathlib import Path

import pytest

import specs
from harness.candidate.session import Definition, LoadReport, Parameter
from harness.conventions.definitions import deviations, find
from harness.conventions.named_orders import by_name
from harness.grading.grading import Assignment, grade
from harness.intake.deliveries import collect
from harness.parsing.client import Parser
from harness.sandbox.base import LIMITS
from harness.sandbox.process import ProcessSandbox

FOLDER = Path(__file__).parent / "submissions"
EXPECTED = tomllib.loads((FOLDER / "expected.toml").read_text(encoding="utf-8"))
FILES = sorted(FOLDER.glob("*/*.py"))


def graded(file, *, adapt):
    spec = specs.load(file.parent.name)
    (delivery,) = collect([file], single=True).deliveries
    with Parser() as parser:
        limits = LIMITS[spec.image]
        assignment = Assignment(spec=spec, seed="s", limits=limits, parser=parser, adapt=adapt)
        sandbox = ProcessSandbox(limits=limits)
        try:
            return grade(delivery, assignment, sandbox).result
        finally:
            sandbox.close()


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_a_file_is_graded_by_the_conventions_that_it_has(file):
    expected = dict(EXPECTED[file.parent.name][file.stem])
    result = graded(file, adapt=True)
    assert result.verdict == expected.pop("verdict"), result.reason
    assert result.reason.startswith(expected.pop("reason", ""))
    assert [one.flaw for one in result.diagnosis if one.flaw != "nan-row"] == expected.pop(
        "flaws", []
    )
    points = {point.name for point in specs.load(file.parent.name).entry_points}
    said = {name: words for name, words in result.conventions.items() if name in points}
    assert said == expected


@pytest.mark.parametrize("name", ["letters", "renamed_and_blocking", "wrong_scale_renamed"])
def test_strictly_a_renamed_function_is_not_graded_and_the_reason_says_its_name(name):
    result = graded(FOLDER / "numpy_attention" / f"{name}.py", adapt=False)
    assert result.verdict == "ungradeable"
    assert "attention is called" in result.reason
    assert "grade with --conventions adapt" in result.reason


def test_strictly_a_mask_the_other_way_round_is_the_mistake_that_it_is(tmp_path):
    source = (FOLDER / "numpy_attention" / "wrong_scale_renamed.py").read_text(encoding="utf-8")
    file = tmp_path / "numpy_attention" / "renamed.py"
    file.parent.mkdir()
    file.write_text(source.replace("def attn", "def attention"), encoding="utf-8")
    (found,) = graded(file, adapt=False).diagnosis
    assert set(found.flaw.split("+")) & {"scale-by-d", "scaled-twice"}
    assert "polarity-inverted" in found.flaw


def attention_point():
    return next(p for p in specs.load("numpy_attention").entry_points if p.role == "attention")


def definition(name, *parameters, kind="function"):
    return Definition(name=name, kind=kind, takes=tuple(map(Parameter, parameters)))


def test_an_exact_name_wins_over_one_that_others_use():
    found = find(attention_point(), [definition("sdpa", "q"), definition("attention", "x")])
    assert found.name == "attention"


def test_a_function_of_queries_keys_and_values_is_found_under_any_name():
    found = find(
        attention_point(), [definition("f", "x"), definition("g", "query", "key", "value")]
    )
    assert found.name == "g"


def test_of_two_functions_of_queries_keys_and_values_the_last_is_the_likeliest():
    both = [definition(name, "query", "key", "value") for name in "fg"]
    assert find(attention_point(), both).name == "g"


def test_parameters_are_matched_by_their_names():
    (convention,) = by_name(attention_point(), definition("f", "values", "keys", "queries", "mask"))
    assert convention.order == (2, 1, 0, 3)


def test_every_order_is_to_be_tried_where_names_do_not_tell():
    orders = [c.order for c in by_name(attention_point(), definition("f", "a", "b", "c", "m"))]
    assert orders[0] == (0, 1, 2, 3)
    assert sorted(orders) == sorted({(*order[:3], 3) for order in orders})
    assert len(orders) == 6


def test_nothing_is_said_of_a_submission_that_has_the_names_of_the_brief():
    spec = specs.load("numpy_attention")
    definitions = tuple(definition(point.name, *point.parameters) for point in spec.entry_points)
    assert deviations(spec, LoadReport(definitions=definitions)) == ""


def test_what_a_function_raises_is_the_reason_that_it_cannot_be_graded(tmp_path):
    file = tmp_path / "torch_sdpa" / "answer.py"
    file.parent.mkdir()
    file.write_text("def attend(q, k, v, mask=None):\n    return helper(q @ k, v)\n")
    result = graded(file, adapt=True)
    assert result.verdict == "ungradeable"
    assert "raised NameError: name 'helper' is not defined (line 2) when it was" in result.reason
