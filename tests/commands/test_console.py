import io

import msgspec
import pytest
from rich.console import Console

from harness.commands.console import (
    line,
    show_specs,
    to_candidate,
    to_interviewer,
    what_is_wrong,
)
from harness.results import (
    Card,
    CheckResult,
    Diagnosis,
    Environment,
    Facet,
    Level,
    Outcome,
    Stage,
    SubmissionResult,
    Verdict,
)

ENVIRONMENT = Environment(takehome="0", sandbox="process", isolated=False)
FOUND = Diagnosis(flaw="f", title="no scale", stage=Stage.SCALE, confidence="It equals f.")


def check(identifier, outcome=Outcome.PASSED, **fields):
    return CheckResult(
        id=identifier,
        title=f"The title of {identifier}.",
        outcome=outcome,
        level=Level.PASS,
        facet=Facet.NUMERIC,
        points=1,
        earned=1,
        **fields,
    )


def result(identifier="ada", verdict=Verdict.PASSED, **fields):
    usual = {"earned": 3, "possible": 4, "level": Level.GOOD}
    return SubmissionResult(id=identifier, sha256="0" * 64, verdict=verdict, **(usual | fields))


def card(identifier):
    return Card(spec="s", title="t", environment=ENVIRONMENT, result=result(identifier))


@pytest.fixture
def plain():
    return Console(file=io.StringIO(), width=20)


@pytest.mark.parametrize(
    ("one", "shown"),
    [
        (result(), "passed          ada  good, 3 of 4 points"),
        (result(level=Level.NONE), "passed          ada  3 of 4 points"),
        (result(verdict=Verdict.UNGRADEABLE, earned=None, reason="it is a link"),
         "ungradeable     ada  it is a link"),
        (result(verdict=Verdict.INVALID, earned=None, reason="the engine is gone"),
         "invalid         ada  the engine is gone"),
        (result(verdict=Verdict.FAILED, diagnosis=(FOUND,), checks=(check("x", Outcome.FAILED),)),
         "failed          ada  good, 3 of 4 points  no scale"),
        (result(verdict=Verdict.FAILED, checks=(check("x", Outcome.FAILED, message="no weights"),
                                                check("y", Outcome.FAILED, message="no weights"))),
         "failed          ada  good, 3 of 4 points  no weights"),
    ],
)  # fmt: skip
def test_a_submission_is_one_line(one, shown):
    assert line(one).plain == shown


def test_at_most_four_checks_that_did_not_pass_are_named():
    checks = [check(f"c{n}", Outcome.RAISED) for n in range(6)]
    assert what_is_wrong(result(checks=(check("p"), *checks[:4]))) == "not passed: c0, c1, c2, c3"
    assert what_is_wrong(result(checks=tuple(checks))) == "not passed: c0, c1, c2, c3 and 2 more"
    assert what_is_wrong(result(checks=(check("p"),))) == ""


def test_a_line_for_a_candidate_names_no_bug():
    found = msgspec.structs.replace(card("ada"), result=result(diagnosis=(FOUND,)))
    assert "no scale" in to_interviewer(found).plain
    assert "no scale" not in to_candidate(found).plain


def test_assignments_are_listed_one_to_a_line_however_narrow_the_console(plain):
    show_specs([("a", "The first of all assignments"), ("long_name", "Another")], plain)
    assert plain.file.getvalue().splitlines() == [
        "a          The first of all assignments",
        "long_name  Another",
    ]
