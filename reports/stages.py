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

#: Checks that look at one stage only. A check that any stage can fail (``definition``, shapes,
#: gradients) tells nothing about where the fault is and is left out.
CHECK_STAGES: Final = {
    "scale": Stage.SCALE,
    "scale-effect": Stage.SCALE,
    "mask-before-softmax": Stage.MASK,
    "mask-value": Stage.MASK,
    "mask-polarity": Stage.MASK,
    "mask-combination": Stage.MASK,
    "mask-broadcast": Stage.MASK,
    "causal-mask": Stage.MASK,
    "causal-perturbation": Stage.MASK,
    "padding": Stage.MASK,
    "padding-mask": Stage.MASK,
    "fully-masked-row": Stage.MASK,
    "masked-gradients": Stage.MASK,
    "additive-mask": Stage.MASK,
    "softmax-axis": Stage.NORMALISE,
    "softmax-before-values": Stage.NORMALISE,
    "stable-softmax": Stage.NORMALISE,
    "values-aggregated": Stage.AGGREGATE,
    "head-split": Stage.HEADS,
    "heads-independent": Stage.HEADS,
    "output-projection": Stage.PROJECTION,
    "separate-projections": Stage.PROJECTION,
    "pe-values": Stage.ENCODING,
    "pe-shape": Stage.ENCODING,
    "pe-distance": Stage.ENCODING,
    "rotary": Stage.ENCODING,
    "alibi": Stage.ENCODING,
    "kv-one-by-one": Stage.CACHE,
    "kv-chunks": Stage.CACHE,
    "kv-prefill": Stage.CACHE,
    "kv-second-prompt": Stage.CACHE,
    "residual-and-norm": Stage.BLOCK,
}


def strip(result: SubmissionResult) -> Strip | None:
    """Return the strip of a submission, or None when nothing was checked.

    A diagnosis decides alone: a single flaw reproduces every output, so the other stages are
    right. Without one, the failing checks of the lowest level point at their stages, unless
    they point everywhere.
    """
    if not result.checks:
        return None
    states = _diagnosed(result) if result.diagnosis else _observed(result.checks)
    steps = tuple(
        Step(stage=stage, formula=formula, state=states[stage], core=stage in CORE)
        for stage, formula in FORMULAS.items()
        if _matters(stage, states, result)
    )
    return Strip(steps=steps, caption=_caption(steps, result)) if steps else None


def _diagnosed(result: SubmissionResult) -> dict[Stage, State]:
    named = {diagnosis.stage for diagnosis in result.diagnosis}
    single = len(result.diagnosis) == 1 and "+" not in result.diagnosis[0].flaw
    rest = State.SOUND if single else State.UNKNOWN  # the second flaw of a pair has no stage here
    return {stage: State.BROKEN if stage in named else rest for stage in FORMULAS}


def _observed(checks: tuple[CheckResult, ...]) -> dict[Stage, State]:
    missed = [check for check in failing(checks) if check.outcome is not Outcome.NOT_RUN]
    if not any(check.outcome in (Outcome.PASSED, Outcome.FAILED) for check in checks):
        return dict.fromkeys(FORMULAS, State.UNKNOWN)  # no answer was ever compared
    lowest = min((LEVELS.index(check.level) for check in missed), default=0)
    suspects = {
        CHECK_STAGES[check.id]
        for check in missed
        if check.id in CHECK_STAGES and LEVELS.index(check.level) == lowest
    }
    passed = {check.id for check in checks if check.outcome is Outcome.PASSED}
    failed = {check.id for check in missed}
    if "definition" in failed and len(suspects) > 1:
        suspects = set()  # one wrong stage makes checks of the others fail too
    states = {}
    for stage in FORMULAS:
        own = {check for check, where in CHECK_STAGES.items() if where is stage}
        sound = own & passed or (stage in CORE and "definition" in passed)
        if stage in suspects:
            states[stage] = State.SUSPECT
        else:
            states[stage] = State.SOUND if sound and not own & failed else State.UNKNOWN
    return states


def _matters(stage: Stage, states: dict[Stage, State], result: SubmissionResult) -> bool:
    if states[stage] in (State.BROKEN, State.SUSPECT):
        return True
    ids = {check.id for check in result.checks}
    return stage in CORE and ("definition" in ids or any(CHECK_STAGES.get(i) in CORE for i in ids))


def _caption(steps: tuple[Step, ...], result: SubmissionResult) -> str:
    states = {step.state for step in steps}
    if State.BROKEN in states:
        broken = [step.stage for step in steps if step.state is State.BROKEN]
        rest = " The other stages are right." if State.SOUND in states else ""
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
