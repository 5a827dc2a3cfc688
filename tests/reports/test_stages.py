from __future__ import annotations

import msgspec

from harness.results import (
    CheckResult,
    Diagnosis,
    Facet,
    Level,
    Outcome,
    Stage,
    SubmissionResult,
    Verdict,
)
from reports.stages import State, Strip, strip
from tests.reports import samples


def states(found: Strip | None) -> dict[Stage, State]:
    assert found is not None
    return {step.stage: step.state for step in found.steps}


def missing(*ids: str, outcome: Outcome = Outcome.FAILED) -> SubmissionResult:
    checks = samples.checks({name: samples.miss(outcome, "") for name in ids})
    return msgspec.structs.replace(samples.right().result, checks=checks, verdict=Verdict.FAILED)


def test_a_right_answer_has_five_stages_that_hold() -> None:
    found = strip(samples.right().result)
    assert set(states(found).values()) == {State.SOUND}
    assert len(states(found)) == 5


def test_a_diagnosis_breaks_its_stage_and_clears_the_others() -> None:
    found = states(strip(samples.over_queries().result))
    assert found.pop(Stage.NORMALISE) is State.BROKEN
    assert set(found.values()) == {State.SOUND}


def diagnosed(result: SubmissionResult, *stages: Stage, complete: bool = False) -> Strip | None:
    bug = Diagnosis(
        flaw="a+b", title="", stage=stages[0], stages=stages, confidence="", complete=complete
    )
    return strip(msgspec.structs.replace(result, diagnosis=(bug,)))


def test_a_pair_of_flaws_breaks_both_stages_and_clears_the_others() -> None:
    found = states(diagnosed(samples.over_queries().result, Stage.SCALE, Stage.MASK))
    assert (found.pop(Stage.SCALE), found.pop(Stage.MASK)) == (State.BROKEN, State.BROKEN)
    assert set(found.values()) == {State.SOUND}


def test_a_flaw_of_the_heads_clears_no_stage_of_a_wrong_attention() -> None:
    found = diagnosed(missing("definition", "head-split"), Stage.HEADS)
    assert states(found)[Stage.SCORE] is State.UNKNOWN
    assert found is not None
    assert found.caption == "Broken: heads."


def test_a_flaw_of_the_heads_that_explains_every_output_clears_the_other_stages() -> None:
    found = diagnosed(missing("definition", "head-split"), Stage.HEADS, complete=True)
    assert {*states(found).values()} == {State.BROKEN, State.SOUND}
    assert found is not None
    assert found.caption == "Broken: heads. The other stages are right."


def test_a_flaw_of_the_heads_leaves_a_right_attention_sound() -> None:
    found = states(diagnosed(missing("head-split"), Stage.HEADS))
    assert found.pop(Stage.HEADS) is State.BROKEN
    assert set(found.values()) == {State.SOUND}


def test_without_a_diagnosis_failing_checks_point_at_their_stage() -> None:
    assert states(strip(samples.nan_row().result))[Stage.MASK] is State.SUSPECT


def test_only_the_lowest_level_that_fails_points_at_a_stage() -> None:
    found = states(strip(missing("scale", "stable-softmax")))
    assert found[Stage.SCALE] is State.SUSPECT
    assert found[Stage.NORMALISE] is State.UNKNOWN


def test_a_check_that_any_stage_can_fail_blames_none() -> None:
    found = strip(missing("definition", "output-shape"))
    assert State.SUSPECT not in states(found).values()
    assert found is not None
    assert found.caption == "The checks do not tell which stage is at fault."


def test_failing_checks_that_point_at_many_stages_of_a_wrong_answer_blame_none() -> None:
    found = states(strip(missing("definition", "scale", "softmax-axis", "mask-value")))
    assert State.SUSPECT not in found.values()
    assert found[Stage.SCALE] is State.UNKNOWN


def test_failing_checks_of_one_stage_of_a_wrong_answer_blame_it() -> None:
    assert states(strip(missing("definition", "scale")))[Stage.SCALE] is State.SUSPECT


def test_no_stage_is_judged_when_no_answer_came_back() -> None:
    everything = (name for name, *_ in samples.CHECKS)
    found = strip(missing(*everything, outcome=Outcome.CRASHED))
    assert set(states(found).values()) == {State.UNKNOWN}


def test_an_extra_stage_is_shown_only_when_it_matters() -> None:
    assert Stage.HEADS not in states(strip(samples.right().result))
    assert states(strip(missing("head-split")))[Stage.HEADS] is State.SUSPECT


def test_a_spec_without_attention_has_no_strip_of_attention() -> None:
    check = CheckResult(
        id="pe-values", title="", outcome=Outcome.PASSED, level=Level.PASS, facet=Facet.NUMERIC,
        points=1, earned=1, stage=Stage.ENCODING,
    )  # fmt: skip
    assert strip(msgspec.structs.replace(samples.right().result, checks=(check,))) is None


def test_a_submission_that_was_not_checked_has_no_strip() -> None:
    assert strip(samples.ungradeable().result) is None
