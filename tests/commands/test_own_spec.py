"""An assignment of one's own, as its author writes, breaks and proves it."""

import re
from pathlib import Path

import pytest

from harness.cli import main
from harness.commands.own_spec import examine_spec, write_spec
from harness.errors import UsageError
from specs import load

PAGE = Path(__file__).parents[2] / "docs" / "own-spec.md"
SEEDS = ["first", "second"]


@pytest.fixture
def own(tmp_path: Path) -> Path:
    write_spec("unit_rows", tmp_path)
    return tmp_path / "unit_rows" / "spec.py"


def problems(spec: Path) -> list[str]:
    return [str(each) for each in examine_spec(load(str(spec)), spec.parent / "samples", SEEDS)]


def change(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


def line_of(file: Path, text: str) -> int:
    lines = file.read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def test_a_new_spec_holds_as_it_is(own: Path) -> None:
    assert problems(own) == []


def test_the_folder_that_new_wrote_is_proven_like_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit, match=r"^0$"):
        main(["spec", "new", "unit_rows"])
    assert "next: takehome spec test unit_rows/spec.py" in capsys.readouterr().err
    with pytest.raises(SystemExit, match=r"^0$"):
        main(["spec", "test", "unit_rows", "--seeds", "1"])
    assert capsys.readouterr().out == "unit_rows: 2 checks and 2 flaws hold over 1 seed\n"


def test_the_example_of_the_page_holds_as_it_is_printed(tmp_path: Path) -> None:
    blocks = re.findall(r"^`(\S+)`\n\n```\w+\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
    assert len(blocks) == 5
    for name, text in blocks:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert problems(tmp_path / "layer_norm" / "spec.py") == []


def test_a_check_that_no_flaw_fails_is_refused_with_its_line(own: Path) -> None:
    change(own, 'caught_by=("input-untouched",)', 'caught_by=("definition",)')
    assert any(
        re.match(r"spec\.py:\d+: check input-untouched is failed by no flaw; add a flaw", each)
        for each in problems(own)
    )


def test_a_flaw_that_a_check_does_not_catch_is_named_with_its_line(own: Path) -> None:
    change(own, 'parts={"divide": divide_in_place}', 'parts={"divide": divide}')
    line = line_of(own, 'id="in-place"')
    assert problems(own) == [
        f"spec.py:{line}: flaw in-place passes check input-untouched at "
        "seed first; draw inputs on which it shows, or take the check out of its caught_by"
    ]


def test_points_for_an_echo_are_found(own: Path) -> None:
    change(own, '    earns_with="definition",  # no points for doing nothing\n', "")
    found = problems(own)
    assert any("input-untouched gives 1 points to its own input" in each for each in found)


def test_a_reference_that_fails_its_own_check_is_found(own: Path) -> None:
    change(own, 'return {"unit_rows": lambda x: parts', 'return {"unit_rows": lambda x: 2 * parts')
    assert any("definition fails the reference at seed first" in each for each in problems(own))


def test_a_check_that_garbage_breaks_is_found(own: Path) -> None:
    change(
        own,
        '        judge.close(returned["rows"]',
        '        assert returned["rows"].ndim == 2\n        judge.close(returned["rows"]',
    )
    assert any("breaks when" in each for each in problems(own))


def test_a_sample_that_ends_otherwise_is_found(own: Path) -> None:
    wrong = own.parent / "samples" / "wrong_wrong-axis.py"
    wrong.write_bytes((own.parent / "samples" / "right_norm.py").read_bytes())
    assert problems(own) == ["wrong_wrong-axis.py: is passed, expected failed"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("REFERENCE = Mapping", "REFERENCE = = Mapping", "SyntaxError"),
        ("from types import", "from tipes import", "ModuleNotFoundError"),
        ("SPEC = Spec(", "OTHER = Spec(", "SPEC of .* is NoneType, expected a harness.Spec"),
    ],
)
def test_a_spec_that_does_not_load_is_one_line_that_says_where(
    own: Path, old: str, new: str, message: str
) -> None:
    change(own, old, new)
    with pytest.raises(UsageError, match=message) as caught:
        load(str(own))
    assert "spec.py" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_nothing_is_overwritten(own: Path) -> None:
    with pytest.raises(UsageError, match="is there already"):
        write_spec("unit_rows", own.parents[1])


def test_a_spec_by_its_path_grades_a_batch(own: Path, tmp_path: Path) -> None:
    samples, out = own.parent / "samples", tmp_path / "out"
    arguments = [str(samples), "--spec", str(own), "--out", str(out), "--sandbox", "process"]
    with pytest.raises(SystemExit) as ended:
        main(["grade", *arguments])
    assert ended.value.code == 1
    assert "the length taken down the columns" in (out / "results.json").read_text("utf-8")


def test_the_proof_ends_with_1_and_a_count_where_something_is_wrong(
    own: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change(own, 'parts={"divide": divide_in_place}', 'parts={"divide": divide}')
    with pytest.raises(SystemExit) as ended:
        main(["spec", "test", str(own), "--seeds", "1"])
    assert ended.value.code == 1
    assert capsys.readouterr().out.endswith("unit_rows: 1 problem\n")
