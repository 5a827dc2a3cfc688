"""The outcomes of a submission's checks as one strip: told apart by height, and by colour."""

from __future__ import annotations

import re
from dataclasses import dataclass

#: Units of height of a strip; a check is one unit wide.
HEIGHT = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Strip:
    """A strip as paths of an SVG."""

    width: int
    passed: str  #: a low bar over neighbours that passed
    missed: str  #: a full block each
    idle: str  #: a hairline over neighbours that could not run
    label: str  #: the same in words


def draw_strip(letters: str) -> Strip:
    """Draw the letters of a submission: p passed, f failed, n not run; others leave a gap."""
    applied = sum(letter != "a" for letter in letters)
    return Strip(
        width=len(letters),
        passed=_bars(letters, "p+", 3, 2),
        missed="".join(f"M{found.start()}.1 0h.8v8h-.8z" for found in re.finditer("f", letters)),
        idle=_bars(letters, "n+", 3.7, 0.6),
        label=f"{letters.count('p')} of {applied} checks passed" if letters else "",
    )


def _bars(letters: str, run: str, top: float, height: float) -> str:
    return "".join(
        f"M{found.start()} {top:g}h{(width := found.end() - found.start())}"
        f"v{height:g}h-{width}z".replace(" 0.", " .").replace("v0.", "v.")
        for found in re.finditer(run, letters)
    )
