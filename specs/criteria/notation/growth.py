"""How costs grow: ``O(T²d)`` as exponents, or a word for it."""

from __future__ import annotations

import itertools
import re
from typing import Final

from specs.criteria.notation.clauses import affirmed, denies
from specs.criteria.notation.plain import NAMES, after_last, before_any, plain


def growth(text: str) -> frozenset[tuple[int, int]] | None:
    """Read ``O(T²d)``, ``O(T^2 * d_model)`` or ``B·H·T²``: exponents of T and d of each term.

    Constants, the batch and the number of heads are left out; d_k, d_v and d_head count as d.
    None for several that differ.
    """
    text = plain(text).replace("**", "^")
    if denies(text):
        text = max(affirmed(text), key=lambda clause: "(" in clause, default="")
    bounds = {
        _terms(_closed(text[mark.end() :])) for mark in itertools.islice(_BOUND.finditer(text), 20)
    }
    if bounds:
        return bounds.pop() if len(bounds) == 1 else None
    return _terms(text)


_BOUND: Final = re.compile(r"[oθ]\(")


def _terms(text: str) -> frozenset[tuple[int, int]] | None:
    text = after_last(text, ("=", ":", "~"))
    terms = {_monomial(term) for term in text.split("+")}
    return None if None in terms else frozenset(term for term in terms if term is not None)


def _closed(text: str) -> str:
    """Return what stands before the parenthesis that closes one opened before."""
    depth = 1
    for place, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return text[:place]
    return text


def _monomial(term: str) -> tuple[int, int] | None:
    exponents = {"t": 0, "d": 0}
    base, place = "", 0
    while place < len(term):
        character = term[place]
        if character == "^":
            digit = term[place + 1 : place + 2]
            if not digit.isdecimal() or not base:  # "፩" is a digit that int refuses
                return None
            exponents[base] = exponents.get(base, 0) + int(digit) - 1
            place += 2
        elif character.isalpha() and character != "x":  # x multiplies
            name = next((n for n in _LONGEST_FIRST if term.startswith(n, place)), None)
            if name is None:
                return None
            base = {"t": "t", "tq": "t", "tk": "t", "b": "b", "h": "h"}.get(NAMES[name], "d")
            exponents[base] = exponents.get(base, 0) + 1
            place += len(name)
        else:
            place += 1
    if exponents == {"t": 0, "d": 0}:
        return None
    # h heads of width d_head are d_model together, which the form calls d.
    return exponents["t"], exponents["d"]


_LONGEST_FIRST: Final = sorted(NAMES, key=len, reverse=True)


_KINDS: Final = {
    "quadratic": ("quadratic", "square", "平方", "二次"),
    "exponential": ("exponential", "指数"),
    "constant": ("constant", "不变", "常数"),
    "linear": ("linear", "线性"),
}
_POWERS_OF_T: Final = {0: "constant", 1: "linear", 2: "quadratic"}
_PROPORTIONAL: Final = re.compile(r"proportional(?:ly)?(?: to)?|正比于?")
_FLAT: Final = re.compile(r"not grow|n't grow|不增长|不随")


def kind_of_growth(text: str) -> str | None:
    """Read a word for a growth in T, or O(…): linear, quadratic, constant or exponential.

    None when several are affirmed.
    """
    said = plain(text)
    found = {"constant"} if _FLAT.search(said) else set()
    for clause in affirmed(before_any(said, ("rather", "instead"))):
        words_of = {kind for kind, marks in _KINDS.items() if any(m in clause for m in marks)}
        terms = growth(_PROPORTIONAL.split(clause)[-1]) if not words_of else None
        if terms is not None:
            words_of = {_POWERS_OF_T.get(max(t for t, _ in terms), "")}
        found |= words_of
    return found.pop() or None if len(found) == 1 else None
