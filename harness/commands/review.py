"""What an interviewer ticks: key points of written answers, in ``review.toml`` beside the results.

The file has a table per submission; a point is ticked by writing true for false, and
``reviewed = true`` says that the whole form was read, ticks or not. Blank answers need no tick and
have none. The file is written with everything at false, and never overwritten: submissions that it
lacks are added at its end.

Folding counts ticks. A submission awaits review until it is ``reviewed``; then a level is reached
when its checks passed and at least ``SHARE`` of its key points are ticked, and the submission
passed when *pass* is reached. What can be earned is the same before and after.
"""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import msgspec

from harness import answer_form
from harness.candidate import possible_points
from harness.errors import UsageError
from harness.results import (
    LEVELS,
    Card,
    KeyPoint,
    Level,
    Question,
    Reviewed,
    SubmissionResult,
    Verdict,
)

FILE: Final = "review.toml"
#: 60 of 100 is the pass mark of the exams whose words (合格, 良好, 优秀) the levels have.
SHARE: Final = 0.6
_SIZE_CAP: Final = 64 << 20

#: The key of a table that says that a person has read the form.
READ: Final = "reviewed"

_HEAD: Final = """\
# Write true for false where an answer says it, and `reviewed = true` when you have read a form to
# its end; then run `takehome report` on this folder.
"""


@dataclasses.dataclass(frozen=True, slots=True)
class Marks:
    """What a person has decided about one form."""

    ticked: frozenset[str] = frozenset()  #: ids of key points that its answers have
    reviewed: bool = False  #: it was read to its end


#: Submission -> its marks.
Ticks = Mapping[str, Marks]


def prepare(cards: Iterable[Card], folder: Path) -> Path | None:
    """Add the submissions of the cards to the folder's ``review.toml``; return its path.

    Cards without key points are passed over; None when there is nothing to tick.

    Raises:
        UsageError: the file is there and cannot be read.
    """
    path = folder / FILE
    known = set(read(folder))
    tables = [
        _table(card) for card in cards if _points(card.questions) and card.result.id not in known
    ]
    if tables:
        text = path.read_text(encoding="utf-8") if path.exists() else _HEAD
        path.write_text("\n".join([text.rstrip("\n") + "\n", *tables]), encoding="utf-8")
    return path if path.exists() else None


def _points(questions: Iterable[Question]) -> list[KeyPoint]:
    return [point for question in questions for point in question.points]


def _table(card: Card) -> str:
    lines = [f"[{_quoted(card.result.id)}]", f"{READ} = false"]
    for question in card.questions:
        if not question.points:
            continue
        lines.append(f"# {question.id}. {' '.join(question.text.split())}")
        if not answer_form.is_answered(question):
            lines.append("# not answered")
            continue
        for point in question.points:
            text = " ".join(point.text.split())
            lines.append(f"{_quoted(point.id)} = false  # {point.level}: {text}")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """Spell text as a TOML key; ids hold printable characters only."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def read(folder: Path) -> Ticks:
    """Read what is ticked in a folder's ``review.toml``; nothing when there is no such file.

    Raises:
        UsageError: it is no TOML, or something else than true or false stands in it.
    """
    path = folder / FILE
    try:
        if not path.exists():
            return {}
        if path.stat().st_size > _SIZE_CAP:
            raise UsageError(f"{path} is larger than {_SIZE_CAP >> 20} MiB; write it again")
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError, RecursionError) as error:
        raise UsageError(f"{path} cannot be read ({error}); repair that line") from None
    return {submission: _marks(path, submission, table) for submission, table in tables.items()}


def _marks(path: Path, submission: str, table: object) -> Marks:
    if not isinstance(table, dict):
        kind = type(table).__name__
        raise UsageError(f"{path}: {submission} is {kind}, expected a table of key points")
    for point, value in table.items():
        if not isinstance(value, bool):
            raise UsageError(
                f"{path}: {point} of {submission} is {str(value)[:40]!r}, expected true or false"
            )
    ticked = frozenset(point for point, value in table.items() if value and point != READ)
    return Marks(ticked, table.get(READ, False))


def fold(card: Card, ticks: Ticks) -> Card:
    """Return the card with its ticks, and the score and level that follow from them.

    Raises:
        UsageError: a point is ticked that the assignment does not have.
    """
    marks = ticks.get(card.result.id, Marks())
    known = {point.id for point in _points(card.questions)}
    if unknown := sorted(marks.ticked - known):
        raise UsageError(
            f"{FILE}: {card.result.id} has no key point {', '.join(unknown)}; remove that line"
        )
    if not known or card.result.earned is None:
        return card
    questions = tuple(_with_ticks(question, marks.ticked) for question in card.questions)
    points = _points(questions)
    result = msgspec.structs.replace(
        card.result,
        verdict=Verdict.AWAITING_REVIEW,
        reason=answer_form.awaits(questions),
        review=_review(points) if marks.ticked or marks.reviewed else (),
        earned=sum(check.earned for check in card.result.checks)
        + sum(point.points for point in points if point.ticked),
        possible=possible_points(card.result.checks) + sum(point.points for point in points),
        level=Level.NONE,
    )
    if marks.reviewed:
        result = _reviewed(result)
    return msgspec.structs.replace(card, questions=questions, result=result)


def _with_ticks(question: Question, ticked: frozenset[str]) -> Question:
    points = tuple(
        msgspec.structs.replace(point, ticked=point.id in ticked) for point in question.points
    )
    return msgspec.structs.replace(question, points=points)


def _review(points: list[KeyPoint]) -> tuple[Reviewed, ...]:
    return tuple(
        Reviewed(
            level=level,
            ticked=sum(point.ticked for point in points if point.level is level),
            total=sum(point.level is level for point in points),
        )
        for level in LEVELS[1:]
    )


def _reviewed(result: SubmissionResult) -> SubmissionResult:
    level = _level(result, {one.level: one for one in result.review})
    return msgspec.structs.replace(
        result,
        verdict=Verdict.FAILED if level is Level.NONE else Verdict.PASSED,
        reason="",
        level=level,
    )


def _level(result: SubmissionResult, review: Mapping[Level, Reviewed]) -> Level:
    reached = Level.NONE
    for level in LEVELS[1:]:
        own = [check for check in result.checks if check.level is level]
        read = review.get(level)
        if any(check.outcome.is_missed for check in own):
            break
        if read and read.ticked < SHARE * read.total:
            break
        if own or (read and read.total):
            reached = level
    return reached
