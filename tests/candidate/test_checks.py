import dataclasses

import msgspec
import numpy as np
import pytest

from harness import Facet, Level, criterion
from harness.candidate.checks import (
    BORDERLINE,
    OUTCOMES,
    credit,
    level_reached,
    possible_points,
    restore_credit,
    run_check,
    run_checks,
    verdict,
)
from harness.candidate.functions import Candidate
from harness.errors import (
    CandidateCrashed,
    CandidateError,
    CandidateRaised,
    CandidateTimedOut,
    CheckFailed,
    NotMeasured,
    OutOfResources,
    ProtocolViolation,
    SandboxBroken,
    SandboxUnavailable,
    SubmissionEnded,
)
from harness.results import CheckResult, Outcome, Verdict
from tests import toy

PASSED, FAILED, INVALID = Outcome.PASSED, Outcome.FAILED, Outcome.INVALID
NOT_APPLICABLE = Outcome.NOT_APPLICABLE


def outcomes(**functions):
    checks, _ = run_checks(toy.SPEC, toy.direct(**functions), "seed")
    return {check.id: check.outcome for check in checks}


def run(body, level=Level.PASS, seed="seed"):
    """Run a body as a check."""
    body.__doc__ = "A title."
    check = criterion(facet=Facet.NUMERIC, hint="The remedy.")(body).at(level, points=4)
    return run_check(check, toy.SPEC, Candidate(toy.SPEC, toy.direct()), seed)


def raising(error):
    def body(judge):
        raise error

    return run(body)


def test_a_right_answer_passes_earns_everything_and_reaches_the_top():
    checks, recording = run_checks(toy.SPEC, toy.direct(), "seed")
    assert {check.outcome for check in checks} == {PASSED}
    assert sum(check.earned for check in checks) == toy.SPEC.possible
    assert level_reached(checks) is Level.EXCELLENT
    assert verdict(checks) is Verdict.PASSED
    assert [record.check for record in recording] == [
        "definition", "definition", "shape", "untouched", "total",
    ]  # fmt: skip


def test_a_wrong_answer_fails_the_checks_about_it_and_no_other():
    assert outcomes(double=lambda x: x * 3) == {
        "definition": FAILED,
        "shape": PASSED,
        "untouched": PASSED,
        "total": PASSED,
    }


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (CandidateRaised("KeyError", "k", 3), Outcome.RAISED),
        (CandidateTimedOut("late"), Outcome.TIMED_OUT),
        (OutOfResources("memory"), Outcome.OUT_OF_RESOURCES),
        (CandidateCrashed("signal 11"), Outcome.CRASHED),
        (ProtocolViolation("garbage"), Outcome.PROTOCOL_VIOLATION),
        (SubmissionEnded("not run"), Outcome.NOT_RUN),
        (NotMeasured("no memory here"), Outcome.NOT_APPLICABLE),
        (CheckFailed("wrong"), Outcome.FAILED),
        (ZeroDivisionError("ours"), Outcome.INVALID),
        (MemoryError(), Outcome.INVALID),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
def test_what_happens_during_a_check_is_its_outcome(error, outcome):
    result = raising(error)
    assert result.outcome is outcome
    assert (result.earned, result.points) == (0, 4)
    assert str(error) in result.message
    assert result.hint == "The remedy."


def test_every_error_of_a_candidate_has_an_outcome():
    assert set(OUTCOMES) == set(CandidateError.__subclasses__())
    assert set(OUTCOMES.values()) | {PASSED, FAILED, INVALID} == set(Outcome)


@pytest.mark.parametrize("error", [SandboxBroken("ours"), SandboxUnavailable("no engine")])
def test_a_broken_sandbox_is_no_outcome_of_a_check(error):
    with pytest.raises(SandboxBroken):
        raising(error)


def test_the_line_of_an_exception_is_kept():
    assert raising(CandidateRaised("KeyError", "k", 3)).line == 3
    assert raising(CandidateTimedOut("late")).line is None


def test_a_broken_check_says_so_in_one_safe_line():
    result = raising(ValueError("\x1b[2J\nmore" + "x" * 9999))
    assert result.message.startswith("the check itself broke: ValueError: <U+001B>")
    assert "\n" not in result.message
    assert len(result.message) <= 400


def test_a_check_that_one_answer_breaks_is_failed_by_it():
    def body(double, draw):
        double(draw.normal(3))["doubled"].values.reshape(3)

    body.__doc__ = "A title."
    check = criterion(facet=Facet.NUMERIC, hint="")(body).at(Level.PASS, points=4)
    session = toy.direct(double=lambda x: x[:2])
    result = run_check(check, toy.SPEC, Candidate(toy.SPEC, session), "seed")
    assert result.outcome is FAILED
    assert result.message.startswith("with this answer the check broke: ValueError:")


def test_a_check_gets_what_its_parameters_name():
    given = {}

    def body(total, double, draw, judge):
        given.update(total=total, double=double, draw=draw, judge=judge)

    assert run(body).outcome is PASSED
    assert given["double"].point.name == "double"


def test_numbers_that_overflow_inside_a_check_are_no_warning():
    def body(judge):
        assert np.isinf(np.float64(1e308) * np.float64(10))

    assert run(body).outcome is PASSED


def test_a_passing_answer_carries_its_notes_and_no_hint():
    def body(judge):
        judge.note("one")
        judge.note("two")

    result = run(body)
    assert (result.note, result.hint, result.message, result.earned) == ("one; two", "", "", 4)


def test_an_answer_that_fails_carries_the_place_and_no_notes():
    checks, _ = run_checks(toy.SPEC, toy.direct(double=lambda x: x * 3), "seed")
    definition = checks[0]
    assert definition.mismatch.output == "doubled"
    assert definition.note == ""
    assert definition.title == "The output is twice the input."


def test_the_same_seed_sends_the_same_bytes_to_a_right_and_a_wrong_answer():
    _, right = run_checks(toy.SPEC, toy.direct(), "seed")
    _, wrong = run_checks(toy.SPEC, toy.direct(double=lambda x: x * 3), "seed")
    sent = [[argument.tobytes() for record in r for argument in record.arguments]
            for r in (right, wrong)]  # fmt: skip
    assert sent[0] == sent[1]


def test_what_is_not_defined_fails_its_checks_alone():
    checks, _ = run_checks(toy.SPEC, toy.direct(), "seed", frozenset({"double"}))
    assert [check.outcome for check in checks] == [PASSED, PASSED, PASSED, FAILED]
    assert "does not define total" in checks[3].message


def result(identifier, outcome, level=Level.PASS, points=2):
    return CheckResult(
        id=identifier,
        title=identifier,
        outcome=outcome,
        level=level,
        facet=Facet.NUMERIC,
        points=points,
        earned=points if outcome is PASSED else 0,
    )


def test_no_points_are_earned_without_the_check_that_they_depend_on():
    zeros = {"double": lambda x: x * 0}
    checks, _ = run_checks(toy.SPEC, toy.direct(**zeros), "seed")
    by_id = {check.id: check for check in checks}
    assert by_id["shape"].outcome is PASSED
    assert by_id["shape"].earned == 0
    assert by_id["shape"].note == "no points: definition did not pass"
    assert by_id["total"].earned == 3


def test_a_note_is_kept_when_points_are_taken_back():
    noted = msgspec.structs.replace(result("shape", PASSED), note="imprecise")
    results = [result("definition", FAILED), noted]
    assert credit(toy.SPEC, results)[1].note == "imprecise; no points: definition did not pass"


def test_points_that_were_withheld_are_given_back_to_what_passed_only():
    noted = msgspec.structs.replace(result("shape", PASSED), note="imprecise")
    withheld = credit(toy.SPEC, [result("definition", FAILED), noted])
    failed, passed = restore_credit(withheld)
    assert failed.earned == 0
    assert (passed.earned, passed.note) == (passed.points, "imprecise")


LEVELS = [
    ([("p", PASSED)], Level.PASS),
    ([("p", FAILED)], Level.NONE),
    ([("p", PASSED), ("g", PASSED), ("e", PASSED)], Level.EXCELLENT),
    ([("p", PASSED), ("g", FAILED), ("e", PASSED)], Level.PASS),
    ([("p", FAILED), ("g", PASSED), ("e", PASSED)], Level.NONE),
    ([("p", PASSED), ("e", PASSED)], Level.EXCELLENT),
    ([("p", PASSED), ("p", FAILED)], Level.NONE),
    ([("p", PASSED), ("g", Outcome.NOT_RUN)], Level.PASS),
    ([("p", PASSED), ("p", NOT_APPLICABLE), ("g", PASSED)], Level.GOOD),
    ([("p", PASSED), ("g", PASSED), ("g", NOT_APPLICABLE), ("e", PASSED)], Level.PASS),
    ([], Level.NONE),
]
WORDS = {"p": Level.PASS, "g": Level.GOOD, "e": Level.EXCELLENT}


@pytest.mark.parametrize(("checks", "reached"), LEVELS)
def test_the_level_is_the_highest_that_passed_with_all_below(checks, reached):
    results = [result(f"{n}", outcome, WORDS[level]) for n, (level, outcome) in enumerate(checks)]
    assert level_reached(results) is reached


@pytest.mark.parametrize("outcome", sorted(set(Outcome) - {PASSED, INVALID, NOT_APPLICABLE}))
def test_any_other_outcome_of_a_pass_level_check_fails_the_submission(outcome):
    checks = [result("a", PASSED), result("b", outcome)]
    assert verdict(checks) is Verdict.FAILED


def test_a_check_that_does_not_apply_keeps_neither_verdict_nor_level_nor_points():
    checks = [result("a", PASSED), result("b", NOT_APPLICABLE), result("c", PASSED, Level.GOOD)]
    assert verdict(checks) is Verdict.PASSED
    assert level_reached(checks) is Level.GOOD
    assert possible_points(checks) == checks[0].points + checks[2].points


@pytest.mark.parametrize("outcome", sorted(set(Outcome) - {INVALID}))
def test_a_check_above_the_pass_level_does_not_fail_the_submission(outcome):
    assert verdict([result("a", PASSED), result("b", outcome, Level.GOOD)]) is Verdict.PASSED


@pytest.mark.parametrize("level", list(WORDS.values()))
def test_one_invalid_check_makes_the_whole_invalid(level):
    assert verdict([result("a", FAILED), result("b", INVALID, level)]) is Verdict.INVALID


def test_a_question_is_carried_by_a_check_that_failed_and_by_no_other():
    asking = dataclasses.replace(toy.SPEC.checks[0].criterion, question="Why?", answer="So.")
    check = dataclasses.replace(toy.SPEC.checks[0], criterion=asking)
    spec = dataclasses.replace(toy.SPEC, checks=(check, *toy.SPEC.checks[1:]))
    right, _ = run_checks(spec, toy.direct(), "seed")
    wrong, _ = run_checks(spec, toy.direct(double=lambda x: x * 3), "seed")
    assert (right[0].question, right[0].answer) == ("", "")
    assert (wrong[0].question, wrong[0].answer) == ("Why?", "So.")


def test_an_exception_names_the_file_of_its_line():
    one = raising(CandidateRaised("KeyError", "k", 3, "pack/module.py"))
    assert (one.line, one.file) == (3, "pack/module.py")


@pytest.mark.parametrize(("high", "outcome"), [(1.0, PASSED), (10.0, FAILED)])
def test_a_borderline_error_is_decided_alike_at_every_seed(high, outcome):
    def body(draw, judge):
        for error in draw.uniform(3, high=high):
            judge.within(error, 1.0, "too large")

    results = [run(body, seed=f"seed {place}") for place in range(20)]
    assert {result.outcome for result in results} == {outcome}
    assert {result.note for result in results} == {BORDERLINE}


def test_an_error_that_is_not_borderline_is_decided_at_once():
    runs = []

    def body(draw, judge):
        runs.append(draw)
        judge.within(1e3, 1.0, "too large")

    result = run(body)
    assert (result.outcome, result.message, result.note) == (FAILED, "too large", "")
    assert len(runs) == 1


def test_the_first_of_the_specs_own_inputs_that_does_not_pass_decides():
    errors = iter([0.5, 0.5, 2.0, 0.5])

    def body(judge):
        error = next(errors)
        judge.within(error, 1.0, f"the error is {error}")

    result = run(body)
    assert (result.outcome, result.message) == (FAILED, "the error is 2.0")
    assert next(errors) == 0.5
