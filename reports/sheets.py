"""Written answers to one question, without names, for whoever marks them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

import msgspec
from markupsafe import Markup, escape

from harness.results import KeyPoint, Question
from reports.pages import pages
from reports.sentence import RanCode, ran_code
from reports.text import shown

#: Words of a point shorter than this tell nothing about an answer.
_SHORTEST: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedAnswer:
    """One answer under its key, with the marks that it has."""

    key: str
    texts: tuple[Markup, ...]
    points: tuple[KeyPoint, ...]
    note: str = ""
    ran: RanCode | None = None  #: what became of code in it
    program: str = ""  #: that this form asked about


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetPage:
    """One question, and all answers to it."""

    number: str
    text: str
    model: str = ""
    flags: tuple[str, ...] = ()
    answers: tuple[MarkedAnswer, ...]
    blank: int
    form: str = ""
    before: str = ""
    after: str = ""

    @property
    def unmarked(self) -> int:
        return sum(any(point.mark is None for point in one.points) for one in self.answers)


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetsPage:
    """All questions that a person marks."""

    sheets: Sequence[SheetPage] = field(default_factory=tuple)


def render_sheet(page: SheetPage) -> str:
    """Return the page on which one question is marked over all submissions."""
    return pages().render("sheet.html", page)


def render_sheets(page: SheetsPage) -> str:
    """Return the list of questions, with how much of each is marked."""
    return pages().render("sheets.html", page)


def marked_answer(key: str, question: Question) -> MarkedAnswer:
    """Lay out one answer: words of its key points and red flags stand out, and tick nothing."""
    safe = shown(question)
    wanted = _telling(point.text for point in safe.points)
    flagged = _telling(flag.text for flag in safe.red_flags) - wanted
    return MarkedAnswer(
        key=key,
        texts=tuple(_highlighted(text, wanted, flagged) for text in safe.answers.values() if text),
        points=safe.points,
        note=safe.note,
        ran=ran_code(safe),
        program=safe.program,
    )


def in_language(question: Question, code: str) -> Question:
    """Return a question with its texts in a language, where it has them in that language."""
    if code != "zh":
        return question
    points = (
        msgspec.structs.replace(point, text=point.text_zh or point.text)
        for point in question.points
    )
    flags = (
        msgspec.structs.replace(flag, text=flag.text_zh or flag.text) for flag in question.red_flags
    )
    return msgspec.structs.replace(
        question,
        part=question.part_zh or question.part,
        text=question.text_zh or question.text,
        points=tuple(points),
        red_flags=tuple(flags),
        model_answer=question.model_answer_zh or question.model_answer,
    )


def _telling(texts: Iterable[str]) -> set[str]:
    words = (word.casefold() for text in texts for word in re.findall(r"\w+", text))
    return {word for word in words if len(word) >= _SHORTEST}


def _highlighted(text: str, wanted: set[str], flagged: set[str]) -> Markup:
    parts = []
    for word in re.split(r"(\w+)", text):
        folded = word.casefold()
        if folded in wanted:
            parts.append(Markup("<mark>{}</mark>").format(word))
        elif folded in flagged:
            parts.append(Markup('<mark class="flag">{}</mark>').format(word))
        else:
            parts.append(escape(word))
    return Markup("").join(parts)
