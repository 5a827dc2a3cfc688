"""What kept a submission from being checked is said once, and first."""
# ruff: noqa: E501 - a case is a line

import pytest

import specs
from harness.grading import Assignment, grade
from harness.intake import collect
from harness.parsing import Parser
from harness.results import CauseKind, Outcome, Stage, Verdict
from harness.sandbox import LIMITS, opener

RIGHT = """\
import numpy as np
def attention(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -1e9)
    e = np.exp(scores - scores.max(-1, keepdims=True))
    weights = e / e.sum(-1, keepdims=True)
    return weights @ V, weights
"""
RETURN = "return weights @ V, weights"


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """Grade a source in a process of its own, as a candidate would."""
    folder = tmp_path_factory.mktemp("cause")
    spec = specs.load("numpy_attention")

    def graded(source):
        file = folder / "answer.py"
        file.write_text(source)
        (delivery,) = collect([file], single=True).deliveries
        sandbox = opener("process", spec.image)()
        with Parser() as parser:
            assignment = Assignment(
                spec=spec, seed="seed", limits=LIMITS[spec.image], parser=parser
            )
            try:
                return grade(delivery, assignment, sandbox).result
            finally:
                sandbox.close()

    return graded


def outcomes(result, *kinds):
    return [check.id for check in result.checks if check.outcome in kinds]


CAUSES = [
    ("def attention(Q, K V): pass", CauseKind.LOAD, "SyntaxError", ""),
    (RIGHT.replace("K, -1, -2", "K, -1, -9"), CauseKind.RAISED, "AxisError", ""),
    (RIGHT.replace("mask=None", "*, mask=None"), CauseKind.CALL, "3 positional", "arguments-refused"),
    (RIGHT.replace(RETURN, "return weights, weights @ V"), CauseKind.RETURN, "returns (weights, out)", "returns-swapped"),
    (RIGHT.replace(RETURN, "return weights @ V"), CauseKind.RETURN, "fewer values", "returns-too-few"),
    (RIGHT.replace(RETURN, "weights @ V"), CauseKind.RETURN, "returns None", "returns-none"),
    (RIGHT.replace("    scores = Q", "    print('x' * 200_000)\n    scores = Q"), CauseKind.LIMIT, "printed more", ""),
]  # fmt: skip


@pytest.mark.parametrize(
    ("source", "kind", "text", "flaw"), CAUSES, ids=[text for _, _, text, _ in CAUSES]
)
def test_a_cause_is_said_once_and_by_the_first_check_that_met_it(graded, source, kind, text, flaw):
    result = graded(source)
    assert result.cause is not None
    assert (result.cause.kind, text in result.cause.text) == (kind, True)
    first = next(check for check in result.checks if check.id == result.cause.check)
    assert first.outcome not in (Outcome.PASSED, Outcome.NOT_RUN)
    assert outcomes(result, Outcome.NOT_RUN)
    assert [bug.flaw for bug in result.diagnosis] == ([flaw] if flaw else [])
    assert all(bug.stage is Stage.CONTRACT and bug.questions for bug in result.diagnosis)


def test_a_cause_in_the_source_has_its_line(graded):
    assert graded(CAUSES[1][0]).cause.line == 3


def test_an_answer_that_is_only_wrong_has_no_cause(graded):
    result = graded(RIGHT.replace(" / np.sqrt(Q.shape[-1])", ""))
    assert result.cause is None
    assert [bug.flaw for bug in result.diagnosis] == ["no-scale"]


def test_entry_points_that_are_absent_are_the_cause_where_all_else_is_right(graded):
    result = graded(RIGHT)
    assert result.verdict is Verdict.FAILED
    assert result.cause.kind is CauseKind.DEFINITION
    assert len(outcomes(result, Outcome.RAISED, Outcome.FAILED)) < 9
