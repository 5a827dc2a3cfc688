"""Grades one submission of an earlier run again, with its seed and image, and compares."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

import specs
from harness.commands import job
from harness.errors import SandboxBroken, TakehomeError, UsageError
from harness.grading import BatchRecord, LedgerReader
from harness.results import Card, SubmissionResult, Verdict

Say = Callable[[str], None]


@dataclasses.dataclass(frozen=True, slots=True)
class Reproduction:
    """What came of grading a submission again."""

    changed: tuple[str, ...]  #: what it is graded by that differs, each with what to install
    differences: tuple[str, ...]  #: what was decided otherwise; none where the verdict is the same


def reproduce(folder: Path, submission: str, say: Say) -> Reproduction:
    """Grade a submission as it was graded into ``folder``; nothing is written there.

    Raises:
        UsageError: the folder does not hold what is needed, or its spec is not here.
        SandboxUnavailable: the image it ran in is not here, nor an engine.
        SandboxBroken: it could not be graded now.
    """
    with LedgerReader(folder) as ledger:
        kept, record = ledger.submission(submission), ledger.record()
    if kept is None:
        raise UsageError(
            f"{folder} holds no submission {submission!r}; `takehome report {folder} --history` "
            "lists them"
        )
    card, task = kept
    if record is None or not task:
        raise UsageError(
            f"the ledger of {folder} is of a version that kept no submissions; grade the file "
            "again with --seed as in results.json"
        )
    for line in (changed := _changed(record)):
        say(f"not as then: {line}")
    again = _grade(record, card, task)
    if again.result.verdict is Verdict.INVALID:
        raise SandboxBroken(f"{submission} could not be graded: {again.result.reason}")
    return Reproduction(changed, tuple(_differences(card.result, again.result)))


def _grade(record: BatchRecord, card: Card, task: bytes) -> Card:
    """Grade a task in the image of its card."""
    order = msgspec.msgpack.decode(record.order, type=job.Order)
    image = card.environment.image if order.sandbox == "container" else ""
    order = msgspec.structs.replace(order, image=image, reuse=False)
    try:
        return msgspec.json.decode(job.grade_task(msgspec.msgpack.encode(order), task), type=Card)
    finally:
        job.close()


def _changed(record: BatchRecord) -> tuple[str, ...]:
    """Say what a submission is graded by that is not as it was."""
    lines = []
    for name, version in job.versions().items():
        if (was := record.versions.get(name, version)) != version:
            remedy = f"use Python {was}" if name == "python" else f"pip install {name}=={was}"
            lines.append(f"{name} is {version}, was {was}; {remedy}")
    try:
        spec = specs.load(record.spec)
        if job.digest_of_code(record.spec) != record.code:
            lines.append("the spec or the harness is not the code that graded it")
        if spec.brief != record.brief:
            lines.append("the brief is another one")
    except TakehomeError as error:
        raise UsageError(f"the spec {record.spec} cannot be loaded ({error})") from error
    return tuple(lines)


def _differences(was: SubmissionResult, now: SubmissionResult) -> Iterator[str]:
    """Yield what was decided otherwise."""
    for name in ("verdict", "level", "earned", "possible", "conventions"):
        if getattr(was, name) != getattr(now, name):
            yield f"{name} is {getattr(now, name)}, was {getattr(was, name)}"
    before = {check.id: check for check in was.checks}
    after = {check.id: check for check in now.checks}
    for identifier in dict.fromkeys((*before, *after)):
        one, other = before.get(identifier), after.get(identifier)
        if one is None or other is None:
            yield f"check {identifier} is {'new' if one is None else 'gone'}"
        elif (one.outcome, one.earned) != (other.outcome, other.earned):
            yield (
                f"check {identifier} is {other.outcome} ({other.earned}), was {one.outcome} "
                f"({one.earned})"
            )
    bugs, bugs_now = ([bug.flaw for bug in result.diagnosis] for result in (was, now))
    if bugs != bugs_now:
        yield f"bugs are {', '.join(bugs_now) or 'none'}, were {', '.join(bugs) or 'none'}"
