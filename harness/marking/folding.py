"""What follows from marks: the score, the level and the verdict of a form.

A form awaits review until it is ``reviewed``. Then a level is reached when its checks passed and
its key points have at least ``SHARE`` of what they can, and so have those below; the form passed
when *pass* is reached. What can be earned is the same before and after.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from harness import answer_form
from harness.candidate import possible_points
from harness.errors import UsageError
from harness.marking.marks import Marking
from harness.results import (
    LEVELS,
    Card,
    KeyPoint,
    Level,
    Points,
    Question,
    Reviewed,
    SubmissionResult,
    Verdict,
)

#: 60 of 100 is the pass mark of the exams whose words (合格, 良好, 优秀) the levels have.
SHARE: Final = 0.6


def fold(card: Card, marking: Marking | None = None) -> Card:
    """Return the card with its marks, and the score and level that follow from them.

    Raises:
        UsageError: a point or question is marked that the assignment does not have.
    """
    marking = marking or Marking()
    _expect_known(card, marking)
    if not points_of(card.questions) or card.result.earned is None:
        return card
    questions = tuple(_marked(question, marking) for question in card.questions)
    points = points_of(questions)
    result = msgspec.structs.replace(
        card.result,
        verdict=Verdict.AWAITING_REVIEW,
        reason=answer_form.awaits(questions),
        review=_review(points) if marking.values or marking.reviewed else (),
        reviewers=marking.reviewers,
        earned=_whole(
            sum(check.earned for check in card.result.checks)
            + sum((point.mark or 0) * point.points for point in points)
        ),
        possible=possible_points(card.result.checks) + sum(point.points for point in points),
        level=Level.NONE,
    )
    if marking.reviewed:
        result = _reviewed(result)
    return msgspec.structs.replace(card, questions=questions, result=result)


def points_of(questions: Iterable[Question]) -> list[KeyPoint]:
    """Return the key points of all questions."""
    return [point for question in questions for point in question.points]


def _expect_known(card: Card, marking: Marking) -> None:
    points = {point.id for point in points_of(card.questions)}
    numbers = {question.id for question in card.questions}
    for known, named, kind in (
        (points, marking.values, "key point"),
        (numbers, marking.notes, "question"),
    ):
        if unknown := sorted(set(named) - known):
            raise UsageError(
                f"{card.result.id} has no {kind} {', '.join(unknown)}; remove what is said of it"
            )


def _marked(question: Question, marking: Marking) -> Question:
    points = tuple(
        msgspec.structs.replace(point, mark=marking.values.get(point.id))
        for point in question.points
    )
    note = marking.notes.get(question.id, "")
    return msgspec.structs.replace(question, points=points, note=note)


def _whole(points: Points) -> Points:
    """Return points as a whole number where they are one."""
    return int(points) if points == int(points) else points


def _review(points: list[KeyPoint]) -> tuple[Reviewed, ...]:
    return tuple(
        Reviewed(
            level=level,
            marked=_whole(sum(point.mark or 0 for point in points if point.level is level)),
            total=sum(point.level is level for point in points),
        )
        for level in LEVELS[1:]
    )


def _reviewed(result: SubmissionResult) -> SubmissionResult:
    level = _level(result, {each.level: each for each in result.review})
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
        if read and read.marked < SHARE * read.total:
            break
        if own or (read and read.total):
            reached = level
    return reached
