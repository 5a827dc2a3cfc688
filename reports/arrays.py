"""Small recorded arrays as tables: each matrix by itself, expected beside actual."""

from __future__ import annotations

import math
from dataclasses import dataclass
from dataclasses import replace as with_changes
from math import prod
from typing import Final

from harness.results import Array, CheckResult, Evidence, Number
from reports import pictures
from reports.words import figure, figures, plural

#: Most cells of one array on a card; evidence is the smallest failing call, so few need more.
CELLS: Final = 144

#: Below this relative difference two cells count as equal when no rounding bound is known.
_CLOSE: Final = 1e-5


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One number as text; ``differs`` marks it, and ``first`` the first that does."""

    text: str
    differs: bool = False
    first: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """The last two axes of an array at one place of the others."""

    place: str  #: "[0]" for the first of a batch, "" when there is only one
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One array under its name."""

    name: str
    caption: str  #: "float64 (1, 2, 2)"
    matrices: tuple[Matrix, ...]
    hidden: int  #: values left out at the end


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One output, as it should be and as it is."""

    name: str
    expected: Table | None
    actual: Table | None
    remark: str  #: the difference in words, for those who do not see the marks


@dataclass(frozen=True, slots=True, kw_only=True)
class Exhibit:
    """One failing call, ready for the page."""

    check: str
    title: str
    call: str
    inputs: tuple[Table, ...]
    comparisons: tuple[Comparison, ...]
    pictures: tuple[pictures.Figure, ...]


def exhibit(evidence: Evidence, check: CheckResult | None) -> Exhibit:
    """Lay out one failing call of a check."""
    names = [*evidence.expected, *(n for n in evidence.actual if n not in evidence.expected)]
    return Exhibit(
        check=evidence.check,
        title=check.title if check else evidence.check,
        call=evidence.call,
        inputs=tuple(_plain(name, array) for name, array in evidence.inputs.items()),
        comparisons=tuple(
            _comparison(
                name,
                evidence.expected.get(name),
                evidence.actual.get(name),
                evidence.wrong.get(name),
            )
            for name in names
        ),
        pictures=tuple(pictures.drawn(picture) for picture in evidence.pictures),
    )


def _comparison(
    name: str, expected: Array | None, actual: Array | None, wrong: tuple[int, ...] | None
) -> Comparison:
    alike = expected and actual and expected.shape == actual.shape
    if not (alike and expected and actual and len(expected.values) == len(actual.values)):
        return Comparison(
            name=name,
            expected=_plain("expected", expected) if expected else None,
            actual=_plain("actual", actual) if actual else None,
            remark=_unlike(expected, actual),
        )
    pairs = tuple(zip(actual.values, expected.values, strict=True))
    known = None if wrong is None else frozenset(wrong)
    marks = tuple(
        place in known if known is not None else _differs(*pair) for place, pair in enumerate(pairs)
    )
    decimals = _decimals(
        (*expected.values, *actual.values),
        apart=tuple(pair for pair, mark in zip(pairs, marks, strict=True) if mark),
    )
    return Comparison(
        name=name,
        expected=_table("expected", expected, decimals),
        actual=_table("actual", actual, decimals, marks),
        remark=_remark(marks, pairs, actual.shape),
    )


def _remark(
    marks: tuple[bool, ...], pairs: tuple[tuple[Number, Number], ...], shape: tuple[int, ...]
) -> str:
    """Say how many values differ, and which is the first."""
    verb = "differs" if sum(marks) == 1 else "differ"
    said = f"{sum(marks)} of {plural(len(marks), 'value')} {verb}"
    if True not in marks:
        return said
    first = marks.index(True)
    actual, expected = figures(*pairs[first])
    return f"{said}, first at {_index(first, shape)}: {actual}, expected {expected}"


def _unlike(expected: Array | None, actual: Array | None) -> str:
    if actual is None:
        return "nothing came back"
    if expected is None:
        return "nothing was expected"
    return f"shape {_shape(actual.shape)}, expected {_shape(expected.shape)}"


def _differs(actual: Number, expected: Number) -> bool:
    actual, expected = float(actual), float(expected)
    if math.isnan(actual) or math.isnan(expected):
        return math.isnan(actual) != math.isnan(expected)
    if math.isinf(actual) or math.isinf(expected):
        return actual != expected
    return abs(actual - expected) > _CLOSE * max(1.0, abs(expected))


def _decimals(
    values: tuple[Number, ...], *, apart: tuple[tuple[Number, Number], ...] = ()
) -> int | None:
    """Return how many decimals suit all values, None for significant digits.

    The pairs in ``apart`` differ, and must still differ when they are printed.
    """
    sizes = [abs(x) for x in map(float, values) if math.isfinite(x)]
    if all(size.is_integer() and size < 1e6 for size in sizes):
        return 0
    if max(sizes) >= 1e5:
        return None
    for decimals in (4, 6, 9):
        if all(_number(a, decimals) != _number(b, decimals) for a, b in apart):
            return decimals
    return None


def _number(value: Number, decimals: int | None) -> str:
    number = float(value)
    if decimals is None or not math.isfinite(number):
        return figure(number)
    return f"{number:.{decimals}f}".replace("-", "−")


def _plain(name: str, array: Array) -> Table:
    return _table(name, array, _decimals(array.values))


def _table(name: str, array: Array, decimals: int | None, marks: tuple[bool, ...] = ()) -> Table:
    values = array.values[:CELLS]
    cells = [
        Cell(text=_truth(value) if array.dtype == "bool" else _number(value, decimals))
        for value in values
    ]
    for position, mark in enumerate(marks[:CELLS]):
        if mark:
            first = True not in marks[:position]
            cells[position] = with_changes(cells[position], differs=True, first=first)
    return Table(
        name=name,
        caption=f"{array.dtype} {_shape(array.shape)}",
        matrices=_matrices(cells, array.shape),
        hidden=len(array.values) - len(values),
    )


def _truth(value: Number) -> str:
    return "True" if float(value) else "False"


def _matrices(cells: list[Cell], shape: tuple[int, ...]) -> tuple[Matrix, ...]:
    """Cut a row-major list of cells into matrices; a list cut short gives fewer of them."""
    height, width = (1, 1, *shape)[-2:]
    if height <= 0 or width <= 0:
        return ()
    matrices = []
    for number, start in enumerate(range(0, len(cells), height * width)):
        part = cells[start : start + height * width]
        rows = tuple(tuple(part[at : at + width]) for at in range(0, len(part), width))
        matrices.append(Matrix(place=_place(number, shape[:-2]), rows=rows))
    return tuple(matrices)


def _place(number: int, axes: tuple[int, ...]) -> str:
    """Return where a matrix sits on the leading axes, ``"[0, 1]"``; nothing for the only one."""
    return _index(number, axes) if prod(axes) > 1 else ""


def _index(number: int, axes: tuple[int, ...]) -> str:
    """Return the index of a row-major place, ``"[0, 1]"``."""
    place: list[str] = []
    for length in reversed(axes):
        number, index = divmod(number, max(length, 1))
        place.insert(0, str(index))
    return f"[{', '.join(place)}]"


def _shape(shape: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"
