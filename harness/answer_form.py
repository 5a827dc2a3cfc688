"""A form of questions, as a person fills it in: Markdown with marked lines for the answers.

A field begins with a line such as ``**13 W_Q:**``, a question number and a name; what follows,
up to the next field or heading, is the answer. Nothing of it is executed or interpreted.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec
import numpy as np

from harness.errors import Refused
from harness.results import CheckResult, KeyPoint, Outcome, Question
from harness.text import sanitise

#: Characters of one answer: three closely written pages.
ANSWER_CAP: Final = 10_000
#: Fields of one file, and characters of a field's name.
FIELDS_CAP: Final = 500
NAME_CAP: Final = 60
#: The field of a question that is answered in prose.
PROSE: Final = "answer"

_INTRODUCTION: Final = """\
# {title}

Write each answer after the bold mark that is meant for it, on the same line or on as many lines
as you need, and leave the marks as they are. Do not begin a line with `##`. Marks that name
something, such as a shape, are read by machine, in any usual notation. The other answers are read
by a person; a few sentences are enough.
"""


def blank(title: str, questions: Sequence[Question]) -> str:
    """Return the form with nothing filled in."""
    lines = [_INTRODUCTION.format(title=title)]
    for part, inside in itertools.groupby(questions, key=lambda question: question.part):
        lines.append(f"## {part}\n")
        for question in inside:
            lines.append(f"### {question.id}. {question.text}\n")
            lines += [f"**{question.id} {name}:**\n" for name in question.answers]
    return "\n".join(lines)


def read(text: str) -> dict[str, str]:
    """Return the answers by number and name of the field, e.g. "13 W_Q".

    Raises:
        Refused: there is no field of the form, or there are too many.
    """
    answers: dict[str, list[str]] = {}
    current: list[str] | None = None
    fenced = False
    for line in text.splitlines():
        if (field := _field(line)) is not None:
            name, rest = field
            current = answers.setdefault(name, [])
            current.append(rest)
            fenced = False
        elif not fenced and line.startswith(("## ", "### ")):
            current = None
        elif current is not None:
            fenced ^= line.lstrip().startswith("```")
            current.append(line)
    if not answers:
        raise Refused("it has no field of the form; fill in the file that `takehome start` writes")
    if len(answers) > FIELDS_CAP:
        raise Refused(f"it has {len(answers):,} fields, expected at most {FIELDS_CAP}")
    return {name: _joined(lines) for name, lines in answers.items()}


def _field(line: str) -> tuple[str, str] | None:
    """Return the name of the field that a line begins, and the rest of the line."""
    stripped = line.strip()
    if not stripped.startswith("**"):
        return None
    mark, closing, rest = stripped[2:].partition("**")
    if closing and not mark.endswith(":") and rest.startswith(":"):
        mark, rest = f"{mark}:", rest[1:]
    number, _, name = mark.removesuffix(":").partition(" ")
    name = name.strip()
    if not closing or not mark.endswith(":") or not number.isdecimal() or not name:
        return None
    # The length first: int refuses a number of thousands of digits.
    return (f"{int(number)} {name}", rest) if len(mark) <= NAME_CAP else None


def _joined(lines: Iterable[str]) -> str:
    text = "\n".join(lines).strip()
    fence, *inside = text.split("\n")
    if fence.startswith("```") and inside and inside[-1].strip() == "```":
        text = "\n".join(inside[:-1]).strip("\n")
    return sanitise(text, ANSWER_CAP)


def to_bytes(text: str) -> np.ndarray[Any, Any]:
    """Return an answer as the bytes of its UTF-8, as a sandbox sends it: replies hold no texts."""
    return np.frombuffer(text.encode(), np.uint8)


def from_bytes(values: np.ndarray[Any, Any]) -> str:
    """Return the answer that was sent as bytes."""
    return values.tobytes().decode()


def left_to_reviewer(
    questions: Sequence[Question], checks: Iterable[CheckResult]
) -> tuple[Question, ...]:
    """Return the questions, with a point to tick for each check that could not read its answers.

    The id of a check begins with ``c`` and the number of its question.
    """
    unread = {
        check.id.partition("-")[0].removeprefix("c").lstrip("0"): KeyPoint(
            id="",
            text=f"the answers are right: {check.message}",
            level=check.level,
            points=check.points,
        )
        for check in checks
        if check.outcome is Outcome.NOT_APPLICABLE
    }
    return tuple(
        msgspec.structs.replace(
            question,
            points=(
                msgspec.structs.replace(unread[question.id], id=f"{question.id}.0"),
                *question.points,
            ),
        )
        if question.id in unread
        else question
        for question in questions
    )


def is_answered(question: Question) -> bool:
    """Tell whether anything was written in one of its fields."""
    return any(text.strip() for text in question.answers.values())


def awaits(questions: Sequence[Question]) -> str:
    """Say how much was answered, and that a person has yet to read it."""
    answered = sum(map(is_answered, questions))
    return f"answered {answered} of {len(questions)}; a person has yet to read the answers"


def answered(questions: Sequence[Question], answers: Mapping[str, str]) -> tuple[Question, ...]:
    """Return the questions with the answers of a submission."""
    return tuple(
        msgspec.structs.replace(
            question,
            answers={name: answers.get(f"{question.id} {name}", "") for name in question.answers},
        )
        for question in questions
    )
