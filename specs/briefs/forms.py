"""Which questions a form asks, and with which numbers: both follow from its draw number.

A draw number is ``QUESTIONS/SEED/CHECK``, such as ``8,25,36c/4f2a90c1/7d3e``; ``c`` stands behind the
number of a question that shows a program. ``CHECK`` is a digest of the two others, so that a number
that was altered by hand is noticed. A form without a draw number
asks everything, with the standard numbers.
"""

from __future__ import annotations

import dataclasses
import hashlib
import random
import re
from collections.abc import Mapping, Sequence
from typing import Final, Self

from harness import Level, Question
from harness.errors import Refused, UsageError
from harness.results import LEVELS
from specs.briefs.questionnaire import STANDARD

#: Questions that show a program with a mistake in it, where a form is drawn.
WITH_PROGRAM: Final = frozenset({"36", "48", "50"})
#: What stands behind the number of a question in a draw number, where it shows a program.
_SHOWN: Final = "c"
#: The line of a form that has its draw number.
_LINE: Final = re.compile(r"^Form:\s*(\S{1,600})\s*$", re.MULTILINE)


@dataclasses.dataclass(frozen=True, slots=True)
class Form:
    """The questions of a form in their order, and the seed of its numbers; "" for the standard."""

    questions: tuple[str, ...]
    seed: str
    with_program: frozenset[str] = frozenset()  #: those that show one

    @property
    def number(self) -> str:
        """The draw number."""
        listed = (
            f"{number}{_SHOWN if number in self.with_program else ''}" for number in self.questions
        )
        body = f"{','.join(listed)}/{self.seed}"
        return f"{body}/{hashlib.blake2b(body.encode(), digest_size=4, key=b'form').hexdigest()}"

    @property
    def line(self) -> str:
        """The line that has the draw number."""
        return f"Form: {self.number}"

    @property
    def numbers(self) -> Mapping[str, str]:
        """The numbers in its questions, by what their texts call them."""
        return drawn_numbers(self.seed) if self.seed else STANDARD

    @classmethod
    def read(cls, text: str) -> Self | None:
        """Return what a form says that it is; None when it has no draw number.

        Raises:
            Refused: the number was altered, or there are two.
        """
        found = list(_LINE.finditer(text))
        if not found:
            return None
        line = text.count("\n", 0, found[0].start()) + 1
        questions, _, rest = found[0][1].partition("/")
        listed = questions.split(",")
        shown = {one.removesuffix(_SHOWN) for one in listed if one.endswith(_SHOWN)}
        form = cls(
            tuple(one.removesuffix(_SHOWN) for one in listed),
            rest.partition("/")[0],
            WITH_PROGRAM & shown,
        )
        if len({match[1] for match in found}) > 1 or form.number != found[0][1]:
            raise Refused(
                f"line {line}: the draw number of the form is not one that `takehome start` gives; "
                "put back the line as it was handed out"
            )
        return form


def drawn_numbers(seed: str) -> Mapping[str, str]:
    """Draw the numbers of a form; lengths that are told apart by their place all differ."""
    draw = random.Random(f"numbers {seed}")
    batch, length, heads = draw.choice([(2, 5, 4), (3, 5, 2), (2, 6, 3), (5, 3, 2), (3, 6, 4)])
    width = draw.choice([7, 8, 10])
    scores = draw.sample(range(4), 3)
    return {
        "B": str(batch),
        "T": str(length),
        "h": str(heads),
        "d_head": str(width),
        "d_model": str(heads * width),
        "short": str(draw.choice([3, 4])),
        "long": str(draw.choice([5, 6])),
        "scores": str(scores),
        "growth": str(draw.choice([3, 5])),
        "context": str(draw.choice([3, 5, 6])),
    }


def level_of(question: Question) -> Level:
    """Return the level of a question: the lowest of its key points."""
    levels = [point.level for point in question.points]
    return min(levels, key=LEVELS.index) if levels else Level.PASS


def choose(questions: Sequence[Question], wanted: Sequence[str] | int, seed: str) -> Form:
    """Return a form of the questions that are named, or of so many, each level by its share.

    Raises:
        UsageError: there is no such question, or not so many.
    """
    known = [question.id for question in questions]
    if not re.fullmatch(r"[0-9A-Za-z]{1,40}", seed):
        raise UsageError(f"--seed is {seed[:60]!r}, expected letters and digits")
    if not isinstance(wanted, int):
        if unknown := [number for number in wanted if number not in known]:
            raise UsageError(
                f"there is no question {', '.join(unknown)}, expected 1 to {len(known)}"
            )
        return _drawn([number for number in known if number in set(wanted)], seed)
    if not 1 <= wanted <= len(known):
        raise UsageError(f"--draw is {wanted}, expected 1 to {len(known)}")
    chosen: set[str] = set()
    draw = random.Random(f"questions {seed}")
    left = wanted
    for place, level in enumerate(LEVELS[1:]):
        own = [question.id for question in questions if level_of(question) is level]
        last = place == len(LEVELS) - 2
        share = left if last else min(left, round(wanted * len(own) / len(known)))
        chosen |= set(draw.sample(own, min(share, len(own))))
        left = wanted - len(chosen)
    spare = [number for number in known if number not in chosen]
    chosen |= set(draw.sample(spare, left))
    return _drawn([number for number in known if number in chosen], seed)


def _drawn(numbers: Sequence[str], seed: str) -> Form:
    return Form(tuple(numbers), seed, WITH_PROGRAM & frozenset(numbers))
