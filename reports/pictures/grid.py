"""What pictures are made of: squares and lines with their places on the page."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from reports.words import figure

#: Sizes of a cell, and of one character of a label, in units of the picture.
WIDTH, HEIGHT, CHARACTER = 56, 30, 6.8
HEADER: Final = 34

#: Characters of a name in a label.
LABEL: Final = 12


class Cell(NamedTuple):
    """One square: its text, and how it is filled and marked."""

    text: str
    tone: str = "plain"  #: "plus", "minus", "plain"; or "closed", "leak", … in a picture of a mask
    depth: float = 0.0  #: how much of the tone, 0 to 1
    sign: str = ""  #: a second mark beside the text
    wrong: bool = False
    hatched: bool = False  #: not a number, or nothing in particular


class Block(NamedTuple):
    """A cell in its place."""

    cell: Cell
    x: float
    y: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """One matrix as squares."""

    title: str
    described: str  #: the same in words
    rows: tuple[str, ...]  #: labels
    columns: tuple[str, ...]
    across: str  #: what a column is
    cells: tuple[tuple[Cell, ...], ...]
    sums: tuple[Cell, ...] = ()  #: beside each row
    below: tuple[Cell, ...] = ()  #: under each column

    @property
    def gutter(self) -> float:
        """Where the squares begin, right of the labels."""
        return 8 + CHARACTER * max((len(label) for label in self.rows), default=0)

    @property
    def width(self) -> float:
        return (
            self.gutter + WIDTH * (len(self.columns) + bool(self.sums)) + 10 * bool(self.sums) + 1
        )

    @property
    def height(self) -> float:
        return HEADER + HEIGHT * (len(self.rows) + bool(self.below)) + 10 * bool(self.below) + 1

    @property
    def right(self) -> float:
        """Where the sums of the rows begin."""
        return self.gutter + WIDTH * len(self.columns) + 10

    @property
    def bottom(self) -> float:
        """Where the sums of the columns begin."""
        return HEADER + HEIGHT * len(self.rows) + 10

    @property
    def blocks(self) -> Iterable[Block]:
        """The squares with their places."""
        for row, cells in enumerate(self.cells):
            for column, cell in enumerate(cells):
                yield Block(cell, self.gutter + WIDTH * column, HEADER + HEIGHT * row)

    @property
    def margins(self) -> Iterable[Block]:
        """The sums with their places."""
        for row, cell in enumerate(self.sums):
            yield Block(cell, self.right, HEADER + HEIGHT * row)
        for column, cell in enumerate(self.below):
            yield Block(cell, self.gutter + WIDTH * column, self.bottom)


class Group(NamedTuple):
    """Grids under one heading: what is expected, what came back."""

    title: str
    grids: tuple[Grid, ...]


class Key(NamedTuple):
    """An entry of the legend."""

    cell: Cell
    meaning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One column along the rows, as two lines in a frame of 220 × 100."""

    title: str
    described: str
    expected: str  #: points of a polyline
    actual: str
    low: str
    high: str
    last: str  #: label of the last row


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One picture: what it shows, and what it proves."""

    title: str
    claim: str
    groups: tuple[Group, ...] = ()
    legend: tuple[Key, ...] = ()
    curves: tuple[Curve, ...] = ()


def brief(value: float, *, signed: bool = False) -> str:
    """Return a number of at most six characters, for a cell."""
    if value == 0:
        return "0"
    if not math.isfinite(value):
        return figure(value)
    if 0.005 <= abs(value) < 1000:
        text = f"{value:.2f}" if abs(value) < 100 else f"{value:.0f}"
    else:
        digits, power = f"{value:.0e}".split("e")
        text = f"{digits}e{int(power)}"
    text = text.replace("-", "−")
    return f"+{text}" if signed and value > 0 else text


def labels(name: str, start: int, count: int) -> tuple[str, ...]:
    """Return "query 0", "query 1", …; a name that is too long for a label is cut."""
    return tuple(f"{name[:LABEL]} {place}".strip() for place in range(start, start + count))


def listed(words: Sequence[str]) -> str:
    """Join words as a sentence does."""
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1]))) if words else ""
