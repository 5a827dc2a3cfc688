"""Columns of a table along its rows: a solid line as it should be, a dashed one as it is."""

from __future__ import annotations

import math
from collections.abc import Sequence

from harness.results import Curves, Number
from reports.pictures.grid import Curve, Figure, brief
from reports.words import plural

WIDTH, HEIGHT = 230, 92


def draw(picture: Curves) -> Figure:
    """Lay out one frame for each column."""
    frames = zip(picture.columns, picture.expected, picture.actual, strict=True)
    verb = "differs" if picture.wrong == 1 else "differ"
    more = picture.wrong - len(picture.columns)
    rest = f"; the first {len(picture.columns)} of them are shown" if more else ""
    return Figure(
        title=f"Columns of {picture.call} along the {picture.along}s",
        claim=f"{picture.wrong} of {plural(picture.total, 'column')} {verb}{rest}. "
        "Solid is expected, dashed is actual.",
        curves=tuple(_curve(picture, *frame) for frame in frames),
    )


def _curve(
    picture: Curves, column: int, expected: Sequence[Number], actual: Sequence[Number]
) -> Curve:
    known = [float(value) for value in (*expected, *actual) if math.isfinite(float(value))]
    low, high = min(known, default=-1.0), max(known, default=1.0)
    if high - low < 1e-12:
        low, high = low - 1, high + 1
    return Curve(
        title=f"column {column}",
        described=f"expected starts {_start(expected)}; actual starts {_start(actual)}",
        expected=_points(expected, low, high),
        actual=_points(actual, low, high),
        low=brief(low),
        high=brief(high),
        last=str(len(expected) - 1),
    )


def _start(values: Sequence[Number]) -> str:
    return ", ".join(brief(float(value)) for value in values[:6])


def _points(values: Sequence[Number], low: float, high: float) -> str:
    """Return a polyline; what is not finite is left out."""
    step = WIDTH / max(len(values) - 1, 1)
    return " ".join(
        f"{step * place:.1f},{HEIGHT * (high - float(value)) / (high - low):.1f}"
        for place, value in enumerate(values)
        if math.isfinite(float(value))
    )
