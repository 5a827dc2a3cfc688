"""Programs with a mistake that a form shows, and answers that say where or which it is.

Which mistake a form shows follows from its seed. An answer is read by the number of a line, or by
words that name the mistake; what is neither, or a line beside the right one, is left to a person.
"""

from __future__ import annotations

import dataclasses
import difflib
import random
import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from harness import Facet, Judge, answer_form, criterion
from harness.errors import Unread
from specs.plain import programs

#: The field that is read.
FIELD: Final = "mistake"
#: Who names more lines than this has not found the mistake.
_LINES_CAP: Final = 3

_TURN: Final = r"transpos|permut|swap|reshap|view|转置|交换|换轴"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """One mistake that may be shown."""

    assignment: str  #: whose plain program it is in
    flaw: str
    functions: tuple[str, ...]  #: of the program, that are shown
    named: str  #: pattern of words that name it


def _heads(flaw: str, named: str) -> Mistake:
    functions = ("split_heads", "merge_heads")
    return Mistake(assignment="numpy_attention", flaw=flaw, functions=functions, named=named)


def _attention(flaw: str, named: str) -> Mistake:
    functions = ("scaled_dot_product_attention",)
    return Mistake(assignment="torch_sdpa", flaw=flaw, functions=functions, named=named)


#: Number of a question -> the mistakes of which a form shows one.
MISTAKES: Final[Mapping[str, tuple[Mistake, ...]]] = MappingProxyType(
    {
        "36": (
            _heads("split-by-reshape", rf"(split|拆|分头).*({_TURN})|({_TURN}).*(split|拆|分头)"),
            _heads("merge-by-reshape", rf"(merg|合并|拼).*({_TURN})|({_TURN}).*(merg|合并|拼)"),
            _attention("keys-reshaped", rf"(\bk\b|key|键).*({_TURN})|({_TURN}).*(\bk\b|key|键)"),
        ),
        "48": (
            _attention("nan-row", r"inf|负无穷|整行|(fully|whole|all|every).*(mask|block)"),
            _attention("no-maximum", r"\bmax|最大|overflow|溢出|unstable|不稳定"),
        ),
        "50": (
            _attention("no-scale", r"\b(no|not|missing|without|forg\w+)\b.*(scal|divi|sqrt|√|root)"
                       r"|(scal|divi|sqrt|√|root).*\b(missing|absent|forgotten|not)\b"
                       r"|[没未忘缺漏].*(除|缩放|根号|√)"),
            _attention("multiplied-by-root-d", r"multipl|\btimes\b|乘"),
        ),
    }
)  # fmt: skip


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ShownProgram:
    """What a form shows under one question."""

    flaw: str
    text: str  #: its lines numbered
    lines: frozenset[int]  #: where the mistake is, or beside which a line is missing
    named: str
    others: tuple[str, ...]  #: patterns of the mistakes that could have been shown


def draw_program(question: str, seed: str) -> ShownProgram:
    """Return what the form of a seed shows under a question."""
    choices = MISTAKES[question]
    drawn = random.Random(f"program {question} {seed}").choice(choices)
    right, mistaken = programs(drawn.assignment)
    shown = _functions(mistaken[drawn.flaw], drawn.functions)
    lines = _changed(_functions(right, drawn.functions), shown)
    return ShownProgram(
        flaw=drawn.flaw,
        text="\n".join(f"{number:2}  {line}".rstrip() for number, line in enumerate(shown, 1)),
        lines=frozenset(lines),
        named=drawn.named,
        others=tuple(other.named for other in choices if other is not drawn),
    )


def _functions(program: str, names: tuple[str, ...]) -> list[str]:
    """Return the lines of some functions of a program; two blank lines are between its parts."""
    parts = {part.partition("(")[0].strip(): part.strip("\n") for part in program.split("\n\n\n")}
    return "\n\n".join(parts[f"def {name}"] for name in names).split("\n")


def _changed(right: list[str], shown: list[str]) -> Iterator[int]:
    """Yield the lines that differ, and of one that is missing those around it."""
    matcher = difflib.SequenceMatcher(None, right, shown, autojunk=False)
    for kind, _, _, first, after in matcher.get_opcodes():
        numbers = range(first, after + 2) if kind == "delete" else range(first + 1, after + 1)
        if kind != "equal":
            yield from (n for n in numbers if not shown[n - 1].startswith("def ") and shown[n - 1])


_NUMERALS: Final = {numeral: place for place, numeral in enumerate("一二三四五六七八九十", 1)}
_NUMBER: Final = r"(?:\d{1,3}|[一二三四五六七八九十])"
_MORE: Final = rf"(?:\s*(?:,|、|-|–|~|to|and|or|和|或|到|至)\s*(?:第|line\s*)?{_NUMBER})*"
_LINES: Final = re.compile(
    rf"(?:\blines?\s*(?:no\.?|number)?\s*|行号?\s*[:：]?\s*|\bl|第\s*)({_NUMBER}{_MORE})"
    rf"|^\W*({_NUMBER}{_MORE})\W*$",
    re.IGNORECASE,
)
#: An answer that praises something may name it without meaning it.
_PRAISE: Final = re.compile(r"\b(right|correct|fine|ok)\b|正确|没问题|没错")


def named_lines(text: str) -> frozenset[int]:
    """Return the numbers of the lines that an answer names."""
    found = (group for match in _LINES.finditer(text) for group in match.groups() if group)
    numbers = (number for group in found for number in re.findall(_NUMBER, group))
    return frozenset(_NUMERALS.get(number) or int(number) for number in numbers)


def _judge(answer: Callable, judge: Judge, number: int, shown: Mapping[str, ShownProgram]) -> None:
    program = shown[str(number)]
    (outputs,) = answer.each([(f"{number} {FIELD}",)])
    said = answer_form.from_bytes(outputs["text"].values)
    judge.require(bool(said), f"{FIELD} is not answered")
    folded = " ".join(said.casefold().split())
    lines = named_lines(folded)
    judge.require(len(lines) <= _LINES_CAP, "more than three lines are named")
    if lines & program.lines:
        return
    names_others = any(re.search(other, folded) for other in program.others)
    if re.search(program.named, folded) and not names_others and not _PRAISE.search(folded):
        return
    beside = any(abs(line - right) == 1 for line in lines for right in program.lines)
    if not lines or beside:
        short = folded if len(folded) <= 60 else f"{folded[:60]}…"
        raise Unread(f"“{short}” was not read as the line or the name of the mistake")
    first = min(lines)
    judge.require(False, f"the program does not go wrong in line {first}")


@criterion(
    facet=Facet.BEHAVIOUR,
    hint="Follow the shapes line by line, and which number goes where: that of head 0, token 1.",
)
def c36_mistake(answer, judge: Judge, shown: Mapping[str, ShownProgram]):
    """Question 36: the mistake in the program is found, by its line or its name."""
    _judge(answer, judge, 36, shown)


@criterion(
    facet=Facet.STABILITY,
    hint="Try a row without any allowed key, and scores in the thousands, line by line.",
)
def c48_mistake(answer, judge: Judge, shown: Mapping[str, ShownProgram]):
    """Question 48: the reason for NaN in the program is found, by its line or its name."""
    _judge(answer, judge, 48, shown)


@criterion(
    facet=Facet.WEIGHTS,
    hint="Ask line by line how large the scores of N(0,1) inputs are.",
)
def c50_mistake(answer, judge: Judge, shown: Mapping[str, ShownProgram]):
    """Question 50: the reason for weights near one-hot is found, by its line or its name."""
    _judge(answer, judge, 50, shown)
