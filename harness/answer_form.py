"""A form of questions, as a person fills it in: Markdown with marked lines for the answers.

A field begins with a line such as ``**13 W_Q:**``, a question number and a name; what follows,
up to the next field or heading, is the answer. Nothing of it is executed or interpreted.
"""

from __future__ import annotations

import itertools
import re
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
#: So many remarks on one form are worth reading.
REMARKS_CAP: Final = 20
#: What is written where there is no answer, without its punctuation.
_NO_ANSWER: Final = re.compile(
    r"(sorry )?(i )?(really )?(do not|don't|dont|cannot|can't|not) "
    r"(know|remember|recall|sure|answer)( this| that| it| the answer)?( one)?( yet| sorry)?"
    r"|(i have )?no (idea|clue|answer)|dunno|idk|n a|na|none|nothing|skip(ped)?|pass|todo|tbd"
    r"|(对不起|抱歉)?[ ]?(我|本人)?(还|也|真的|完全)?"
    r"(不(知道|清楚|会|懂|了解|记得|确定|太会|太清楚)|没学过|没有?想法|忘了|答不上来)(了|啊|呢|这题|这道题|这个)?"
    r"|略|无|跳过|空|待补|没有答案"
)
#: What stands behind the opening of a fenced block of Python.
_PYTHON: Final = frozenset({"", "py", "py3", "python", "python3", "pytorch", "torch", "{python}"})
#: The field of a question that is answered in prose.
PROSE: Final = "answer"

_INTRODUCTION: Final = """\
# {title}

Write each answer after the bold mark that is meant for it, on the same line or on as many lines
as you need, in any language, and leave the marks as they are. Do not begin a line with `##`. Marks
that name something, such as a shape, are read by machine, in any usual notation. The other answers
are read by a person; a few sentences are enough.

请把每个答案写在对应的粗体标记之后，同一行或另起几行都可以，语言不限。
不要改动标记，也不要以 `##` 开头另起一行。
"""


_PROGRAM: Final = """\
In this program a line is wrong or missing. Give its number, or name the mistake.
下面的程序有一行写错或漏写。写出行号，或说出错误。

```text
{program}
```
"""


def blank(title: str, questions: Sequence[Question], draw: str = "") -> str:
    """Return the form with nothing filled in; ``draw`` is the line that says how it was drawn."""
    lines = [_INTRODUCTION.format(title=title)]
    if draw:
        lines.append(f"{draw}\n")
    for part, inside in itertools.groupby(questions, key=lambda question: question.part):
        questions_of_part = list(inside)
        chinese = questions_of_part[0].part_zh
        lines.append(f"## {part}{' · ' if chinese else ''}{chinese}\n")
        for question in questions_of_part:
            lines.append(f"### {question.id}. {question.text}\n")
            if question.text_zh:
                lines.append(f"{question.text_zh}\n")
            if question.program:
                lines.append(_PROGRAM.format(program=question.program))
            lines += [f"**{question.id} {name}:**\n" for name in question.answers]
    return "\n".join(lines)


def read(text: str) -> dict[str, str]:
    """Return the answers by number and name of the field, e.g. "13 W_Q".

    What stands under a mark that comes twice is joined.

    Raises:
        Refused: there is no field of the form, or there are too many.
    """
    return {name: _joined(lines) for name, lines in _fields(text).items()}


def _fields(text: str) -> dict[str, list[str]]:
    """Return the lines under each mark; raises as ``read`` does."""
    answers: dict[str, list[str]] = {}
    current: list[str] | None = None
    fence = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if (field := _field(line)) is not None:
            name, rest = field
            current = answers.setdefault(name, [])
            current.append(rest.strip())
            fence = ""
            if len(answers) > FIELDS_CAP:
                raise Refused(f"line {number} is field {FIELDS_CAP + 1}, expected {FIELDS_CAP}")
        elif not fence and line.startswith(("## ", "### ")):
            current = None
        elif current is not None:
            fence = _fence(line, fence)
            current.append(line)
    if not answers:
        raise Refused("it has no field of the form; fill in the file that `takehome start` writes")
    return answers


def fenced_code(text: str, field: str) -> str:
    """Return the Python in the fenced blocks of an answer, one after another; "" for none."""
    code: list[str] = []
    fence, is_python = "", False
    for line in _fields(text).get(field, ()):
        before, fence = fence, _fence(line, fence)
        if before and fence:
            code.extend([line] if is_python else [])
        elif fence:
            is_python = line.strip().lstrip("`~").strip().lower() in _PYTHON
        elif before:
            code.append("")
    return "\n".join(code).strip("\n")


def _fence(line: str, opened: str) -> str:
    """Return the fence that is open after a line: one is closed by its like, at least as long."""
    stripped = line.strip()
    sign = stripped[:1]
    run = len(stripped) - len(stripped.lstrip(sign)) if sign in ("`", "~") and sign else 0
    if run < 3:
        return opened
    if not opened:
        return sign * run
    closes = sign == opened[0] and run == len(stripped) >= len(opened)
    return "" if closes else opened


def remarks(text: str, questions: Sequence[Question]) -> tuple[str, ...]:
    """Say where the marks of a form differ from those that were asked: lines, and what is gone."""
    asked = dict.fromkeys(f"{question.id} {name}" for question in questions
                          for name in question.answers)  # fmt: skip
    places: dict[str, list[int]] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if (field := _field(line)) is not None:
            places.setdefault(field[0], []).append(number)
    said = []
    for name, lines in places.items():
        if name not in asked:
            said.append(f"line {lines[0]}: nothing asks for “{sanitise(name, NAME_CAP)}”; not read")
        elif len(lines) > 1:
            others = ", ".join(map(str, lines[1:4]))
            said.append(f"line {lines[0]}: “{name}” comes again in line {others}; read together")
    if gone := [name for name in asked if name not in places]:
        named = ", ".join(gone[:3]) + (", …" if len(gone) > 3 else "")
        said.append(f"{len(gone)} of {len(asked)} marks of the form are gone: {named}")
    return tuple(said[:REMARKS_CAP])


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
    first, *inside = text.split("\n")
    opened = _fence(first, "")
    if opened and inside and [line for line in inside if not _fence(line, opened)] == inside[-1:]:
        text = "\n".join(inside[:-1]).strip("\n")
    return sanitise(text, ANSWER_CAP)


def to_bytes(text: str) -> np.ndarray[Any, Any]:
    """Return an answer as the bytes of its UTF-8, as a sandbox sends it: replies hold no texts."""
    return np.frombuffer(text.encode(), np.uint8)


def from_bytes(values: np.ndarray[Any, Any]) -> str:
    """Return the answer that was sent as bytes."""
    return values.tobytes().decode()


def question_of(check: str) -> str:
    """Return the number of the question that a check is about: its id begins with c and that."""
    return check.partition("-")[0].removeprefix("c").lstrip("0")


def left_to_reviewer(
    questions: Sequence[Question], checks: Iterable[CheckResult]
) -> tuple[Question, ...]:
    """Return the questions, with a point to tick for each check that could not read its answers."""
    unread = {
        question_of(check.id): KeyPoint(
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
    """Tell whether an answer was written in one of its fields: that one has none is no answer."""
    return any(not _says_nothing(text) for text in question.answers.values())


def _says_nothing(text: str) -> bool:
    words = re.sub(r"[^\w']+", " ", text.casefold().replace("’", "'")).strip()
    if not words:  # signs alone: a dash for no answer, or a matrix of ticks
        return re.fullmatch(r"[-–—.…?？/\\\s]*", text) is not None
    return _NO_ANSWER.fullmatch(words) is not None


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
