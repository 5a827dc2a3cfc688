"""The strip of stages: which parts of attention hold, and which one is broken."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Final

from harness.results import LEVELS, CheckResult, Outcome, Stage, SubmissionResult
from reports.words import failing


class State(enum.StrEnum):
    """What is known about one stage."""

    BROKEN = "broken"  #: the diagnosis names it
    SUSPECT = "suspect"  #: checks of this stage fail
    SOUND = "sound"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One stage on the strip."""

    stage: Stage
    formula: str
    state: State
    core: bool  #: one of the five stages of attention


@dataclass(frozen=True, slots=True, kw_only=True)
class Strip:
    """The stages in the order of the computation, and one sentence about them."""

    steps: tuple[Step, ...]
    caption: str


#: The order of the computation; a spec shows the extra stages only when they matter.
FORMULAS: Final = {
    Stage.ENCODING: "x + position",
    Stage.PROJECTION: "x W",
    Stage.HEADS: "(B, h, T, d)",
    Stage.CACHE: "past K, V",
    Stage.SCORE: "Q Kᵀ",
    Stage.SCALE: "÷ √d",
    Stage.MASK: "blocked → −∞",
    Stage.NORMALISE: "softmax over keys",
    Stage.AGGREGATE: "weights · V",
    Stage.BLOCK: "x + f(norm x)",
}

CORE: Final = (Stage.SCORE, Stage.SCALE, Stage.MASK, Stage.NORMALISE, Stage.AGGREGATE)

#: Stages that some specs ask for as functions of their own, which say nothing about attention.
APART: Final = (Stage.HEADS, Stage.ENCODING)


def strip(result: SubmissionResult) -> Strip | None:
    """Return the strip of a submission, or None when nothing was checked, or a
    cause kept it from being checked.

    A diagnosis decides: its flaws reproduce every output, or at least those of attention, so the
    other stages are right. Without one, the failing checks of the lowest level point at their
    stages, unless they point everywhere.
    """
    if not result.checks or result.cause is not None:
        return None
    states = _diagnosed(result) if result.diagnosis else _observed(result.checks)
    steps = tuple(
        Step(stage=stage, formula=formula, state=states[stage], core=stage in CORE)
        for stage, formula in FORMULAS.items()
        if _matters(stage, states, result)
    )
    return Strip(steps=steps, caption=_caption(steps, result)) if steps else None


def _diagnosed(result: SubmissionResult) -> dict[Stage, State]:
    named = {stage for bug in result.diagnosis for stage in (bug.stages or (bug.stage,))}
    explained = named - {*APART} or all(bug.complete for bug in result.diagnosis)
    states = dict.fromkeys(FORMULAS, State.SOUND) if explained else _observed(result.checks)
    for stage, state in states.items():
        if stage in named:
            states[stage] = State.BROKEN
        elif state is State.SUSPECT:
            states[stage] = State.UNKNOWN  # the diagnosis says more than a failing check
    return states


def _observed(checks: tuple[CheckResult, ...]) -> dict[Stage, State]:
    missed = [check for check in failing(checks) if check.outcome is not Outcome.NOT_RUN]
    if not any(check.outcome in (Outcome.PASSED, Outcome.FAILED) for check in checks):
        return dict.fromkeys(FORMULAS, State.UNKNOWN)  # no answer was ever compared
    lowest = min((LEVELS.index(check.level) for check in missed), default=0)
    suspects = {check.stage for check in missed if LEVELS.index(check.level) == lowest}
    passed = {check.stage for check in checks if check.outcome is Outcome.PASSED}
    failed = {check.stage for check in missed}
    core_failed = any(check.id == "definition" for check in missed)
    core_passed = any(c.id == "definition" and c.outcome is Outcome.PASSED for c in checks)
    if core_failed and len(suspects - {None}) > 1:
        suspects = set()  # one wrong stage makes checks of the others fail too
    states = {}
    for stage in FORMULAS:
        sound = stage in passed or (stage in CORE and core_passed)
        if stage in suspects:
            states[stage] = State.SUSPECT
        else:
            states[stage] = State.SOUND if sound and stage not in failed else State.UNKNOWN
    return states


def _matters(stage: Stage, states: dict[Stage, State], result: SubmissionResult) -> bool:
    if states[stage] in (State.BROKEN, State.SUSPECT):
        return True
    return stage in CORE and any(
        check.id == "definition" or check.stage in CORE for check in result.checks
    )


def _caption(steps: tuple[Step, ...], result: SubmissionResult) -> str:
    states = {step.state for step in steps}
    if State.BROKEN in states:
        broken = [step.stage for step in steps if step.state is State.BROKEN]
        rest = " The other stages are right." if states == {State.BROKEN, State.SOUND} else ""
        return f"Broken: {', '.join(broken)}.{rest}"
    if State.SUSPECT in states:
        suspects = [step.stage for step in steps if step.state is State.SUSPECT]
        return f"Failing checks point at {', '.join(suspects)}."
    if states == {State.UNKNOWN} and not any(
        check.outcome in (Outcome.PASSED, Outcome.FAILED) for check in result.checks
    ):
        return "The code gave no answer, so no stage can be judged."
    if failing(result.checks) and states != {State.SOUND}:
        return "The checks do not tell which stage is at fault."
    return "Every stage holds."
