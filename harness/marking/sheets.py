"""The order in which to mark: question by question over all submissions, shuffled, without names.

Whoever reads 66 answers of one person marks the last by the impression of the first; whoever reads
one question of all compares like with like, and does not know whom they read.
"""

from __future__ import annotations

import dataclasses
import hashlib
import random
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from harness import answer_form
from harness.errors import UsageError
from harness.marking.marks import Marking
from harness.results import Card, KeyPoint, Question


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Anonymous:
    """One submission's answer to one question."""

    key: str  #: stands for the submission, on this sheet only
    question: Question  #: with the answers; its key points are this submission's


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """One question, and all answers to it."""

    question: Question  #: blank: its text, its key points and what goes with them
    answers: tuple[Anonymous, ...]  #: shuffled; those that hold anything
    blank: int  #: submissions that did not answer; settled as 0
    submissions: Mapping[str, str]  #: key -> id of the submission; not for the page

    def submission(self, key: str) -> str:
        """Return whose answer a key stands for.

        Raises:
            UsageError: it stands for none.
        """
        if key not in self.submissions:
            raise UsageError(
                f"question {self.question.id} has no answer under that key; load the page again"
            )
        return self.submissions[key]


def sheets(cards: Iterable[Card], seed: str) -> tuple[Sheet, ...]:
    """Return a sheet per question that a person reads, in the order of the form.

    ``seed`` is the secret of the batch: it alone decides the order and the keys, so that a page
    that is loaded again is the same.
    """
    asked: dict[str, list[tuple[str, Question]]] = {}
    for card in cards:
        for question in card.questions:
            if question.points:
                asked.setdefault(question.id, []).append((card.result.id, question))
    return tuple(_sheet(asked[number], seed) for number in sorted(asked, key=int))


def _sheet(answered: Sequence[tuple[str, Question]], seed: str) -> Sheet:
    first = answered[0][1]
    written = [
        (_key(seed, question.id, submission), submission, question)
        for submission, question in answered
        if answer_form.is_answered(question)
    ]
    written.sort()  # by key, whatever the order of the batch
    random.Random(f"{seed}/{first.id}").shuffle(written)
    blank = dict.fromkeys(first.answers, "")
    return Sheet(
        question=msgspec.structs.replace(first, answers=blank, note="", points=_common(answered)),
        answers=tuple(Anonymous(key=key, question=question) for key, _, question in written),
        blank=len(answered) - len(written),
        submissions={key: submission for key, submission, _ in written},
    )


def _common(answered: Sequence[tuple[str, Question]]) -> tuple[KeyPoint, ...]:
    """Return the key points without marks that all submissions have.

    What a machine could not read in one form is a point of that form alone.
    """
    shared = set.intersection(*({p.id for p in question.points} for _, question in answered))
    points = (point for point in answered[0][1].points if point.id in shared)
    return tuple(msgspec.structs.replace(point, mark=None) for point in points)


def _key(seed: str, number: str, submission: str) -> str:
    text = f"{seed}/{number}/{submission}".encode(errors="surrogatepass")
    return hashlib.blake2b(text, digest_size=8, key=b"sheets").hexdigest()


def unread(cards: Iterable[Card], markings: Mapping[str, Marking]) -> dict[str, int]:
    """Return how many answers of each submission have a key point without a mark.

    At 0 the form was read to its end, and is to be entered as ``Reading``.
    """
    return {
        card.result.id: sum(
            answer_form.is_answered(question)
            and not all(
                point.id in markings.get(card.result.id, Marking()).values
                for point in question.points
            )
            for question in card.questions
        )
        for card in cards
        if any(question.points for question in card.questions)
    }
