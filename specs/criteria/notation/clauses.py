"""What a written answer affirms: its clauses, without what they deny."""

from __future__ import annotations

import re
from typing import Final

_ENDS: Final = re.compile(r"[,;。!\n]|\.(?!\d)|\bbut\b|而是|，|；")
_DENIALS: Final = re.compile(
    r"\b(?:not|never|rather than|instead of|unlike|isn't|doesn't|does not)\b|n't\b"
    r"|不是|并非|而非|而不是|不随|没有"
)


def denies(text: str) -> bool:
    """Tell whether something in a text is denied."""
    return _DENIALS.search(text) is not None


def affirmed(text: str) -> list[str]:
    """Return each clause up to what it denies: of "linear, not quadratic" it is "linear"."""
    kept = []
    for clause in _ENDS.split(text):
        denial = _DENIALS.search(clause)
        kept.append(clause[: denial.start()] if denial else clause)
    return [clause.strip() for clause in kept if clause.strip()]
