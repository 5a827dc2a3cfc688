"""A repair as the lines of its diff, each with its number in the source."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from harness.results import Repair

_HUNK: Final = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffLine:
    """One line of a diff."""

    sign: str  #: "-", "+" or " "
    number: int  #: in the source as it was handed in; of an added line, the line it stands at
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What a repair changes, and where."""

    file: str
    lines: tuple[DiffLine, ...]
    places: tuple[int, ...]  #: the lines of the source that it changes or adds to


def change_of(repair: Repair) -> Change:
    """Read the unified diff of a repair; lines that are no diff are passed over."""
    lines: list[DiffLine] = []
    file, number, inside = "", 0, False
    for line in repair.diff.split("\n"):
        if hunk := _HUNK.match(line):
            number, inside = int(hunk[1]), True
        elif not inside:
            file = line.removeprefix("--- ") if line.startswith("--- ") else file
        elif line[:1] in ("-", "+", " "):
            lines.append(DiffLine(sign=line[0], number=number, text=line[1:]))
            number += line[0] != "+"
    removed = {line.number for line in lines if line.sign == "-"}
    added = {max(line.number - 1, 1) for line in lines if line.sign == "+"}
    return Change(file=file, lines=tuple(lines), places=tuple(sorted(removed or added)))
