"""What can be seen of a wrong answer: its numbers, its masks, where its elements came from.

A picture holds numbers and verdicts only, cut to what fits a page; reports draw it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from harness.results import Curves, Heat, Number, Reach, Rearrangement, Visibility, number
from harness.spec import Expected

Floats = np.ndarray[Any, Any]

#: Rows and columns of the part of a matrix that is shown.
ROWS, COLUMNS = 8, 10

#: Elements of an array whose rearrangement is shown.
ELEMENTS: Final = 128

#: Curves, and how many points each needs to be one.
CURVES, POINTS = 4, 24

#: What rows and columns are, by the names that briefs give to outputs.
AXES: Final = {
    "weights": ("query", "key"),
    "mask": ("query", "key"),
    "out": ("query", "feature"),
    "encoding": ("position", "column"),
    "turned": ("position", "feature"),
    "bias": ("query", "key"),
}

#: A weight below this is none: a blocked score of -1e9 leaves exactly 0 in every precision.
NONE: Final = 1e-9


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One output of a call beside what it should be, of the same shape."""

    name: str
    actual: Floats
    expected: Expected
    wrong: Floats  #: bool, of the same shape
    probabilities: bool  #: each row should sum to 1

    @property
    def free(self) -> Floats:
        """Where any finite value is right."""
        compared = True if self.expected.compared is None else self.expected.compared
        return ~np.broadcast_to(compared, self.wrong.shape)


def heat(outputs: Sequence[Judged]) -> Heat | None:
    """Show the matrix of the first wrong value; of weights rather than of what follows them."""
    wrong = [one for one in outputs if one.wrong.any() and one.wrong.ndim]
    if not wrong:
        return None
    one = next((one for one in wrong if one.probabilities), wrong[0])
    window = Window(one.wrong)
    expected = window.cut(np.where(one.free, np.nan, one.expected.values))
    free = window.cut(one.free)
    rows, columns = AXES.get(one.name, ("row", "column"))
    return Heat(
        output=one.name,
        place=window.place,
        rows=rows,
        columns="key" if one.probabilities else columns,
        corner=window.corner,
        whole=window.whole,
        expected=tuple(
            tuple(None if unasked else number(value) for value, unasked in zip(*row, strict=True))
            for row in zip(expected, free, strict=True)
        ),
        actual=_numbers(window.cut(one.actual)),
        wrong=_truths(window.cut(one.wrong)),
        probabilities=one.probabilities,
    )


def visibility(outputs: Sequence[Judged], masked: bool) -> Visibility | None:
    """Show which keys a mask lets through, when that is not as it should be.

    From the mask itself, or from the weights of a masked call: blocked keys have weight 0.
    """
    for one in outputs:
        if one.name == "mask" and one.wrong.any():
            return _of_mask(one)
        if one.probabilities and masked:
            return _of_weights(one)
    return None


def _of_mask(one: Judged) -> Visibility:
    window = Window(one.wrong)
    allowed, seen = one.expected.values != 0, one.actual != 0
    rows = "item" if one.actual.shape[-2:-1] == (1,) else "query"
    if rows == "item":  # (B, 1, T): items below each other are more than one row
        allowed, seen = (array.reshape(-1, array.shape[-1]) for array in (allowed, seen))
        window = Window(allowed != seen)
    cells = reach(allowed, seen)
    return visible(window, cells, found_by="mask", rows=rows)


def _of_weights(one: Judged) -> Visibility | None:
    allowed = np.abs(one.expected.values) > 0
    seen = np.abs(one.actual) > NONE
    # A weight that is there and should be there may be wrong in size, and is seen nevertheless.
    cells = reach(allowed, seen | (allowed & ~one.wrong))
    cells[one.free] = Reach.FREE
    cells[~np.isfinite(one.actual)] = Reach.NAN
    odd = (cells == Reach.LEAK) | (cells == Reach.LOST)
    if not odd.any():
        return None
    window = Window(odd)
    amounts = _numbers(window.cut(one.actual))
    return visible(window, cells, found_by="weights", amounts=amounts)


def reach(allowed: Floats, seen: Floats) -> Floats:
    """Say of each pair whether it may be seen, and whether it is."""
    cells = np.where(allowed, np.where(seen, Reach.OPEN, Reach.LOST), Reach.CLOSED)
    return np.where(~allowed & seen, Reach.LEAK, cells).astype(object)


def visible(
    window: Window,
    cells: Floats,
    *,
    found_by: str,
    rows: str = "query",
    columns: str = "key",
    first: int = 0,
    amounts: tuple[tuple[Number, ...], ...] = (),
) -> Visibility:
    """Show the part of the cells that fits a page."""
    row, column = window.corner
    return Visibility(
        found_by=found_by,
        place=window.place,
        rows=rows,
        columns=columns,
        corner=(row, column + first),
        whole=window.whole,
        cells=tuple(tuple(map(Reach, row)) for row in window.cut(cells)),
        amounts=amounts,
    )


def rearrangement(
    source: str, given: Floats, output: str, expected: Floats, actual: Floats
) -> Rearrangement | None:
    """Show where each element was taken from, if a right answer only moves elements.

    Drawn values are all different, so that each tells where it is from.
    """
    home = {value: place for place, value in enumerate(_flat(given))}
    if not 1 < len(home) == given.size == expected.size <= ELEMENTS:
        return None
    right = [home.get(value) for value in _flat(expected)]
    if None in right or len(set(right)) != len(right):
        return None
    return Rearrangement(
        source=source,
        source_shape=given.shape,
        output=output,
        shape=expected.shape,
        expected=tuple(place for place in right if place is not None),
        actual_shape=actual.shape,
        actual=tuple(home.get(value) for value in _flat(actual)[:ELEMENTS]),
    )


def _flat(array: Floats) -> list[float]:
    """Return the values in float32, which is how some submissions hand them back."""
    flat: list[float] = array.astype(np.float32).reshape(-1).tolist()
    return flat


def curves(call: str, one: Judged) -> Curves | None:
    """Show the columns that are wrong, along the rows."""
    if one.wrong.ndim != 2 or len(one.wrong) < POINTS or not one.wrong.any():
        return None
    columns = np.flatnonzero(one.wrong.any(0))
    shown = columns[:CURVES]
    rows, _ = AXES.get(one.name, ("row", "column"))
    return Curves(
        output=one.name,
        call=call,
        along=rows,
        columns=tuple(int(column) for column in shown),
        wrong=len(columns),
        total=one.wrong.shape[1],
        expected=_numbers(one.expected.values[:, shown].T),
        actual=_numbers(one.actual[:, shown].T),
    )


class Window:
    """The part of an array that holds its first marked value: of one matrix, what fits a page."""

    def __init__(self, marks: Floats) -> None:
        marks = marks[None, :] if marks.ndim == 1 else marks
        *leading, row, column = (int(index[0]) for index in np.nonzero(marks))
        self._leading = tuple(leading)
        self.whole = (marks.shape[-2], marks.shape[-1])
        self.corner = (_start(row, ROWS, self.whole[0]), _start(column, COLUMNS, self.whole[1]))
        many = int(np.prod(marks.shape[:-2])) > 1
        self.place = f"[{', '.join(map(str, leading))}]" if many else ""

    def cut(self, array: Floats) -> Floats:
        """Return that part of an array of the same shape."""
        array = array[None, :] if array.ndim == 1 else array
        row, column = self.corner
        part: Floats = array[self._leading][row : row + ROWS, column : column + COLUMNS]
        return part


def _start(place: int, length: int, whole: int) -> int:
    """Return where a stretch of some length begins that holds a place, at 0 if it can."""
    return 0 if place < length else min(place - length // 2, whole - length)


def _numbers(matrix: Floats) -> tuple[tuple[Number, ...], ...]:
    return tuple(tuple(number(value) for value in row) for row in matrix)


def _truths(matrix: Floats) -> tuple[tuple[bool, ...], ...]:
    return tuple(tuple(bool(value) for value in row) for row in matrix)


def is_identity(array: Floats) -> bool:
    """Tell whether all matrices of an array are the identity: aggregating it gives the weights."""
    square = array.ndim > 1 and array.shape[-1] == array.shape[-2] > 1
    return square and array.dtype.kind == "f" and bool((array == np.eye(array.shape[-1])).all())
