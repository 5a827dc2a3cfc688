"""Shapes, alone or in a sentence: ``[B, T]``, ``B × T``, ``Q = X W_Q: [B, T, d_k]``."""

from __future__ import annotations

import itertools
import re
from typing import Final

from specs.criteria.notation.clauses import affirmed
from specs.criteria.notation.plain import LENGTHS, NAMES, after_last, before_any, plain

Shape = tuple[str, ...]

_BRACKETS: Final = re.compile(r"\[([^\[\]()]*)\]|\(([^\[\]()]*)\)")
#: Calls whose arguments are axes.
_OF_AXES: Final = re.compile(r"(?:transpose|permute|swapaxes|softmax|sum|mean|dim|axis)\s?$")
_TOKEN: Final = "|".join([r"\d+", *sorted(filter(str.isascii, NAMES), key=len, reverse=True)])
_TIMES: Final = r"(?:\s*[×*·]\s*|\s+x\s+|(?<=\d)x(?=\d))"
_CHAIN: Final = re.compile(rf"(?<![a-z\d])(?:{_TOKEN})(?:{_TIMES}(?:{_TOKEN}))+(?![a-z\d^])")
#: What stands between a computation and the shape that it gives.
_GIVES: Final = re.compile(
    r"^\s*(?:=|->|→|=>)\s*$|结果|得到|变[回成为]|所以|因此|输出[^\w]*$"
    r"|\b(?:gives|becomes|yields|hence|result|so)\b(?! that)|(?:->|→|=>)\s*$"
)
#: A clause about one of the heads, or about what the shape meets later.
_ASIDE: Final = re.compile(
    r"每个?头|各个?头|\b(?:per|each|every) head\b|相加|\badded to\b|\bso that\b"
)
_PLACE: Final = re.compile("\ue000(\\d+)\ue001")


def shape(text: str) -> Shape | None:
    """Read ``[B, H, T_q, T_k]``, ``(B,H,Tq,Tk)``, ``B x H x T_q x T_k`` or ``torch.Size([2, 4])``.

    Lengths come back in lower case without underscores, under the form's names. Of several shapes
    the one counts that the others compute; a list without brackets is read when there is no shape.
    """
    text = before_any(plain(text), ("#", "//"))
    marked, shapes = _marked(text)
    if shapes:
        return _of_several(marked, shapes)
    if _BRACKETS.search(text):
        return None
    return _lengths(after_last(text, ("=", ":", "∈", "^")).strip())


def _marked(text: str) -> tuple[str, list[Shape]]:
    """Put a mark in the place of every shape; return the text and the shapes."""
    shapes: list[Shape] = []

    def mark(read: Shape) -> str:
        shapes.append(read)
        return f"\ue000{len(shapes) - 1}\ue001"

    def bracketed(match: re.Match[str]) -> str:
        inside = match[1] if match[1] is not None else match[2]
        read = _lengths(inside)
        axes = _OF_AXES.search(match.string, max(match.start() - 12, 0), match.start())
        long_enough = read and (len(read) > 1 or match[1] is not None)
        return mark(read) if read and long_enough and not axes else match[0]

    def chained(match: re.Match[str]) -> str:
        read = _lengths(match[0])
        return mark(read) if read else match[0]

    text = text.translate(str.maketrans("", "", "\ue000\ue001"))
    return _CHAIN.sub(chained, _BRACKETS.sub(bracketed, text)), shapes


def _lengths(inside: str) -> Shape | None:
    """Read lengths with one kind of sign between them; a word that is none makes it no shape."""
    if "," not in inside:
        for separator in ("×", "*", "·", ";", "x"):
            inside = inside.replace(separator, ",")
    parts = inside.split(",") if "," in inside else inside.split()
    names = ["".join(filter(str.isalnum, part)) for part in parts]
    lengths = tuple(NAMES.get(name, name) for name in names if name)
    known = all(length.isdecimal() or length in LENGTHS for length in lengths)
    return lengths if lengths and known else None


def _of_several(marked: str, shapes: list[Shape]) -> Shape | None:
    """Return the shape that a text with marks for shapes comes to."""
    clauses = affirmed(marked)
    whole = [clause for clause in clauses if not _ASIDE.search(clause)]
    for text in (" , ".join(whole), " , ".join(clauses)):
        places = list(_PLACE.finditer(text))
        if places:
            break
    else:
        return None
    read = [shapes[int(place[1])] for place in places]
    if one := _one_of(read):
        return one
    given = [
        index
        for index, (before, place) in enumerate(itertools.pairwise(places), start=1)
        if _GIVES.search(text[before.end() : place.start()])
    ]
    return _one_of(read[given[-1] :]) if given else None


def _one_of(read: list[Shape]) -> Shape | None:
    """Return the one shape that all of these are: with numbers, or with T for T_q and T_k, too."""
    if len({len(lengths) for lengths in read}) > 1:
        return None
    numbers = {lengths for lengths in read if all(map(str.isdecimal, lengths))}
    names = [lengths for lengths in read if not any(map(str.isdecimal, lengths))]
    if len(numbers) == 1 and len(names) + sum(n in numbers for n in read) == len(read):
        return numbers.pop()
    if len({tuple(map(_without_side, lengths)) for lengths in read}) > 1:
        return None
    sides = {lengths for lengths in read if {"tq", "tk"} & set(lengths)} or set(read)
    return sides.pop() if len(sides) == 1 else None


def _without_side(length: str) -> str:
    return "t" if length in ("tq", "tk") else length
