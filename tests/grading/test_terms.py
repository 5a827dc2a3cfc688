"""What a team asks for besides the spec, on cards that were graded without it."""

from __future__ import annotations

import msgspec
import pytest

import specs
from harness.errors import UsageError
from harness.grading import Terms, expect_usable, settle
from harness.results import Card, CheckResult, Facet, Level, Outcome, Verdict
from tests.reports import samples

SPEC = specs.load("numpy_attention")


def check(name: str, outcome: Outcome, level: Level = Level.PASS, message: str = "") -> CheckResult:
    return CheckResult(
        id=name,
        title=name,
        outcome=outcome,
        level=level,
        facet=Facet.NUMERIC,
        points=4,
        earned=4 if outcome is Outcome.PASSED else 0,
        message=message,
    )


def card(*checks: CheckResult, verdict: Verdict = Verdict.PASSED) -> Card:
    whole = samples.cards()[0]
    return msgspec.structs.replace(
        whole,
        result=msgspec.structs.replace(
            whole.result, checks=checks, verdict=verdict, level=Level.PASS, reason=""
        ),
    )


DEFINITION = check("definition", Outcome.PASSED)
WITHOUT_MASK = check(
    "mask-polarity", Outcome.NOT_APPLICABLE, message="the submission has no parameter for attn_mask"
)
GOOD = check("stable-softmax", Outcome.FAILED, Level.GOOD)


def test_without_terms_a_card_is_as_it_was() -> None:
    graded = card(DEFINITION, WITHOUT_MASK)
    assert settle(graded, Terms()) is graded


@pytest.mark.parametrize("name", ["mask", "attn_mask"])
def test_a_required_part_that_is_missing_fails_its_checks_and_the_verdict(name: str) -> None:
    result = settle(card(DEFINITION, WITHOUT_MASK), Terms(require=(name,))).result
    assert result.verdict is Verdict.FAILED
    assert result.reason == f"it has no {name}, which is required here"
    assert result.checks[1].outcome is Outcome.FAILED
    assert (result.earned, result.possible, result.level) == (4, 8, Level.NONE)


def test_another_part_may_be_missing() -> None:
    result = settle(card(DEFINITION, WITHOUT_MASK), Terms(require=("dropout_p",))).result
    assert (result.verdict, result.possible) == (Verdict.PASSED, 4)


def test_a_level_that_is_not_reached_fails_what_passed() -> None:
    result = settle(card(DEFINITION, GOOD), Terms(level=Level.GOOD)).result
    assert result.verdict is Verdict.FAILED
    assert result.reason == "it reaches level pass, and level good is asked for here"
    assert settle(card(DEFINITION, GOOD), Terms(level=Level.PASS)).result.verdict is Verdict.PASSED


def test_points_are_those_of_the_team_and_what_was_earned_keeps_its_share() -> None:
    half = msgspec.structs.replace(DEFINITION, earned=2)
    result = settle(card(half, GOOD), Terms(points={"definition": 10})).result
    assert (result.earned, result.possible) == (5, 14)


@pytest.mark.parametrize("verdict", [Verdict.UNGRADEABLE, Verdict.INVALID])
def test_what_was_not_scored_stays_as_it_is(verdict: Verdict) -> None:
    graded = card(WITHOUT_MASK, verdict=verdict)
    assert settle(graded, Terms(require=("mask",))) is graded


@pytest.mark.parametrize(
    ("terms", "message"),
    [
        (Terms(require=("masks",)), "require has 'masks', expected some of .*mask"),
        (Terms(points={"nosuch": 3}), "points has nosuch, expected a check of numpy_attention"),
        (Terms(level=Level.EXCELLENT), "level is excellent, expected one .*: pass, good"),
    ],
)
def test_terms_that_name_what_is_not_there_are_refused(terms: Terms, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        expect_usable(terms, SPEC)


def test_parts_and_masks_of_any_name_may_be_required() -> None:
    expect_usable(Terms(require=("mask", "causal_mask", "V")), SPEC)
    expect_usable(Terms(require=("mask",)), specs.load("torch_sdpa"))
