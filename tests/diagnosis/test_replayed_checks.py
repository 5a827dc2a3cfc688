"""Checks that failed are run again against flaws, and compared in how they end."""

import msgspec
import pytest

import specs
from harness.candidate.checks import run_checks
from harness.candidate.session import DirectSession
from harness.diagnosis.replayed_checks import Replay
from harness.errors import CandidateRaised
from harness.results import CheckResult, Outcome

SPEC = specs.load("numpy_attention")
FLAWS = {flaw.id: flaw for flaw in SPEC.flaws}
SEED = "seed"


@pytest.fixture(scope="module")
def replay():
    functions = SPEC.assemble(SPEC.with_flaws(FLAWS["query-scaled-in-place"]))
    checks, _ = run_checks(SPEC, DirectSession(functions, arrays="numpy"), SEED)
    return Replay(SPEC, checks, SEED)


def test_the_failed_checks_are_known_by_how_they_ended(replay):
    assert list(replay.failed) == ["inputs-untouched", "self-attention"]
    assert replay.failed["inputs-untouched"][1] == "argument Q was changed by the call"


def test_a_flaw_agrees_with_the_submission_that_has_it(replay):
    assert replay.first_different([FLAWS["query-scaled-in-place"]], ["inputs-untouched"]) is None


def manner(message):
    result = CheckResult(
        id="c", title="", level="pass", facet="", points=1, earned=0,
        outcome=Outcome.FAILED, message=message,
    )  # fmt: skip
    return Replay(SPEC, [result], SEED).failed["c"]


@pytest.mark.parametrize("value", ["0", "-1.5e-07", "nan", "1,024", "3.5%"])
def test_a_message_is_compared_without_its_numbers(value):
    assert manner(f"out is {value}, no") == ("failed", "out is #, no")


def test_an_exception_is_compared_without_the_line_that_raised():
    assert manner(str(CandidateRaised("ValueError", "no", line=7))) == manner("ValueError: no")


def test_a_flaw_that_fails_the_check_in_another_way_does_not(replay):
    assert (
        replay.first_different([FLAWS["assumes-contiguous"]], ["inputs-untouched"])
        == "inputs-untouched"
    )


def test_a_flaw_that_does_not_fail_the_check_does_not(replay):
    assert replay.first_different([FLAWS["no-scale"]], ["inputs-untouched"]) == "inputs-untouched"


def test_a_flaw_can_be_there_only_if_all_checks_failed_that_it_fails(replay):
    assert replay.compatible(FLAWS["query-scaled-in-place"])
    assert replay.compatible(FLAWS["assumes-contiguous"])
    assert not replay.compatible(FLAWS["no-scale"])


def test_a_flaw_that_no_check_here_fails_cannot_be_told(replay):
    names = frozenset({"softmax"})
    checks, _ = run_checks(
        SPEC.only(names), DirectSession(SPEC.assemble(SPEC.reference), arrays="numpy"), SEED
    )
    assert not Replay(SPEC.only(names), checks, SEED).compatible(FLAWS["no-scale"])


def test_the_check_that_the_fewest_flaws_fail_tells_that_they_differ():
    functions = SPEC.assemble(SPEC.with_flaws(FLAWS["no-scale"]))
    checks, _ = run_checks(SPEC, DirectSession(functions, arrays="numpy"), SEED)
    replay = Replay(SPEC, checks, SEED)
    assert {"definition", "scale"} < replay.failed.keys()
    assert replay.first_different([FLAWS["sigmoid"]], ["definition", "scale"]) == "scale"
    assert replay.first_different([], ["definition", "scale"]) == "scale"


def test_no_flaw_is_tried_on_a_check_that_ended_the_process(monkeypatch):
    crashed = CheckResult(
        id="scale", title="", level="pass", facet="", points=1, earned=0,
        outcome=Outcome.CRASHED, message="its process ended without an answer",
    )  # fmt: skip
    monkeypatch.setattr("harness.diagnosis.replayed_checks.run_check", None)
    assert Replay(SPEC, [crashed], SEED).first_different([FLAWS["no-scale"]], ["scale"]) == "scale"


def test_a_wrong_number_tells_nothing_more_where_the_core_check_failed():
    functions = SPEC.assemble(SPEC.with_flaws(FLAWS["softmax-over-everything"]))
    checks, _ = run_checks(SPEC, DirectSession(functions, arrays="numpy"), SEED)
    implied = Replay(SPEC, checks, SEED).implied
    assert {"mask-polarity", "stable-softmax"} <= implied
    assert not implied & {"definition", "softmax-axis"}  # the core itself, and no single number
    core_passed = [check for check in checks if check.id != "definition"]
    assert Replay(SPEC, core_passed, SEED).implied == set()


@pytest.mark.parametrize("actual", ["nan", "inf", None])
def test_an_exception_or_nan_may_tell_more(actual):
    functions = SPEC.assemble(SPEC.with_flaws(FLAWS["softmax-over-everything"]))
    checks, _ = run_checks(SPEC, DirectSession(functions, arrays="numpy"), SEED)
    other = {
        check.id: msgspec.structs.replace(
            check,
            mismatch=actual and msgspec.structs.replace(check.mismatch, actual=actual),
        )
        for check in checks
        if check.id == "stable-softmax"
    }
    implied = Replay(SPEC, [other.get(check.id, check) for check in checks], SEED).implied
    assert "mask-polarity" in implied
    assert "stable-softmax" not in implied
