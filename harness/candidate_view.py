"""What a candidate is told: a card of its own, made field by field from an interviewer's card.

Nothing is taken away here, only taken over: a field that is added to ``Card`` stays with the
interviewer until somebody adds it below. No expected value, no message that quotes one, no seed,
no diagnosis, no question, no repair, and nothing of other submissions is ever taken over.
"""

from __future__ import annotations

import keyword
from collections.abc import Sequence
from math import prod
from typing import Final

import msgspec

from harness.results import (
    SCHEMA,
    Array,
    Card,
    CardSource,
    CheckResult,
    Evidence,
    Level,
    Number,
    Outcome,
    Points,
    SubmissionResult,
    Verdict,
)

#: Outcomes whose message tells what the candidate's own code did. What a failed check says, and
#: what a broken check of ours says, may quote expected values.
OWN: Final = frozenset(
    {
        Outcome.RAISED,
        Outcome.TIMED_OUT,
        Outcome.OUT_OF_RESOURCES,
        Outcome.CRASHED,
        Outcome.PROTOCOL_VIOLATION,
        Outcome.NOT_RUN,
        Outcome.NOT_APPLICABLE,
    }
)

BROKEN: Final = "The harness or its sandbox broke; this says nothing about your work."


class CandidateCheck(msgspec.Struct, frozen=True, kw_only=True):
    """How one check ended."""

    id: str
    title: str
    outcome: Outcome
    level: Level
    points: Points
    earned: Points
    hint: str = ""
    message: str = ""  #: what the candidate's own code did, e.g. what it raised
    line: int | None = None
    file: str = ""


class CandidateCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call to try at home: what went in."""

    title: str  #: of the check that it failed
    call: str
    code: str = ""  #: the call with all that it needs, as it can be pasted into Python
    inputs: dict[str, Array] = {}


class CandidateCard(msgspec.Struct, frozen=True, kw_only=True):
    """One submission, for the one who wrote it."""

    schema: str = SCHEMA
    spec: str
    title: str
    id: str
    verdict: Verdict
    reason: str = ""
    level: Level = Level.NONE
    earned: Points | None = None
    possible: Points = 0
    conventions: dict[str, str] = {}
    notes: tuple[str, ...] = ()
    checks: tuple[CandidateCheck, ...] = ()
    calls: tuple[CandidateCall, ...] = ()
    sources: tuple[CardSource, ...] = ()
    log: str = ""  #: what the submission itself printed
    versions: dict[str, str] = {}


def for_candidate(card: Card) -> CandidateCard:
    """Return what the candidate is told of a card."""
    result, environment = card.result, card.environment
    return CandidateCard(
        spec=card.spec,
        title=card.title,
        id=result.id,
        verdict=result.verdict,
        reason=_reason(result),
        level=result.level,
        earned=result.earned,
        possible=result.possible,
        conventions=result.conventions,
        notes=result.notes,
        checks=tuple(_check(check) for check in result.checks),
        calls=tuple(_calls(card)),
        sources=card.sources,
        log=card.log,
        versions={
            "takehome": environment.takehome,
            "python": environment.python,
            "numpy": environment.numpy,
            "torch": environment.torch,
        },
    )


def _reason(result: SubmissionResult) -> str:
    """Say why it was not graded, or what kept every check from running."""
    if result.verdict is Verdict.INVALID:
        return BROKEN
    return result.reason or (result.cause.text if result.cause else "")


def _check(check: CheckResult) -> CandidateCheck:
    own = check.outcome in OWN
    return CandidateCheck(
        id=check.id,
        title=check.title,
        outcome=check.outcome,
        level=check.level,
        points=check.points,
        earned=check.earned,
        hint=check.hint,
        message=check.message if own else "",
        line=check.line if own else None,
        file=check.file if own else "",
    )


def _calls(card: Card) -> list[CandidateCall]:
    """Return the failing calls that can be made again: all that went in is there."""
    titles = {check.id: check.title for check in card.result.checks}
    file = card.sources[0].name if card.sources else ""
    return [
        CandidateCall(
            title=titles[one.check], call=one.call, code=snippet(one, file), inputs=one.inputs
        )
        for one in card.evidence
        if one.check in titles and one.expected and all(map(_is_whole, one.inputs.values()))
    ]


def _is_whole(array: Array) -> bool:
    return len(array.values) == prod(array.shape)


def can_be_called_again(evidence: Evidence) -> bool:
    """Tell whether a call can be written down: what is cut off of its arrays can be drawn."""
    return all(_is_whole(one) or "float" in one.dtype for one in evidence.inputs.values())


def snippet(evidence: Evidence, file: str) -> str:
    """Return a call as Python that runs when it is pasted beside the candidate's file.

    In a notebook nothing is to be imported: what is called is there already. An object draws
    weights of its own, and a large array is drawn, so that the numbers are others then.
    """
    name = (evidence.made or evidence.call).partition("(")[0]
    lines = ["import torch" if evidence.arrays == "torch" else "import numpy as np"]
    if file.endswith(".py"):
        lines.append(_import(name, file.removesuffix(".py")))
    lines.append("")
    if evidence.made:
        lines += ["torch.manual_seed(0)", f"model = {evidence.made}.eval()"]
    for argument, array in evidence.inputs.items():
        lines.append(f"{argument} = {literal(array, evidence.arrays)}")
    return "\n".join([*lines, f"print({evidence.call})"])


def _import(name: str, module: str) -> str:
    parts = module.split("/")
    if all(part.isidentifier() and not keyword.iskeyword(part) for part in parts):
        return f"from {'.'.join(parts)} import {name}"
    return f"import runpy; {name} = runpy.run_path({module + '.py'!r})[{name!r}]"


def literal(array: Array, arrays: str) -> str:
    """Return an array as ``arrays``, "numpy" or "torch", read it back exactly."""
    if not _is_whole(array):
        if arrays == "torch":
            return f"torch.randn({array.shape}, dtype=torch.{array.dtype})"
        return f"np.random.default_rng(0).normal(size={array.shape}).astype({array.dtype!r})"
    values = _nested(list(array.values), array.shape, array.dtype)
    shape = "" if all(array.shape) else f".reshape{array.shape}"
    if arrays == "torch":
        return f"torch.tensor({values}, dtype=torch.{array.dtype}){shape}"
    return f'np.array({values}, dtype="{array.dtype}"){shape}'


def _nested(values: Sequence[Number], shape: Sequence[int], dtype: str) -> str:
    if not shape:
        return _spelled(values[0], dtype)
    step = len(values) // max(shape[0], 1)
    parts = (values[at * step : (at + 1) * step] for at in range(shape[0]))
    return f"[{', '.join(_nested(part, shape[1:], dtype) for part in parts)}]"


def _spelled(value: Number, dtype: str) -> str:
    if isinstance(value, str):
        return f'float("{value}")'
    if dtype == "bool":
        return str(bool(value))
    return str(int(value)) if "int" in dtype else repr(value)
