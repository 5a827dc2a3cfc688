"""A matrix as it should be, as it is, and their difference: numbers on a ground that fills up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from harness.results import Heat, Number
from reports.pictures.grid import LABEL, Cell, Figure, Grid, Group, brief, labels, listed
from reports.words import figure, plural

#: A sum that is further from 1 is no rounding.
SLACK = 1e-3

#: Digits where two say the same; more do not fit a square.
_MORE_DIGITS: Final = 4

Row = Sequence[Number | None]


def draw(picture: Heat) -> Figure:
    """Lay out expected, actual and difference."""
    expected = _grid(picture, "expected", picture.expected)
    actual = _grid(picture, "actual", picture.actual, marked=True)
    groups = [Group("expected", (expected,)), Group("actual", (actual,))]
    if any(_known(one, other) for pair in _pairs(picture) for one, other in pair):
        groups.append(Group("actual − expected", (_difference(picture),)))
    return Figure(title=_title(picture), claim=_claim(picture), groups=tuple(groups))


def _title(picture: Heat) -> str:
    whole = picture.whole
    shown = (len(picture.expected), len(picture.expected[0]) if picture.expected else 0)
    part = f", {shown[0]} × {shown[1]} of {whole[0]} × {whole[1]}" if shown != whole else ""
    name = picture.output
    if picture.probabilities and name != "weights":
        name = f"{name} for values that are the identity, which are the weights"
    return f"{name} {picture.place}".strip() + part


def _grid(picture: Heat, name: str, matrix: Sequence[Row], *, marked: bool = False) -> Grid:
    largest = _largest(picture)
    cells = tuple(
        tuple(
            _cell(value, largest, text, wrong=marked and wrong)
            for value, text, wrong in zip(row, texts, wrongs, strict=True)
        )
        for row, texts, wrongs in zip(matrix, _texts(picture, matrix), picture.wrong, strict=True)
    )
    return Grid(
        title=f"{name} {picture.output}",
        described=_described(picture, matrix),
        rows=labels(picture.rows, picture.corner[0], len(matrix)),
        columns=labels("", picture.corner[1], len(matrix[0]) if matrix else 0),
        across=picture.columns[:LABEL],
        cells=cells,
        sums=tuple(_sum(row, marked=marked) for row in matrix) if _is_whole(picture) else (),
        below=_below(picture, matrix) if marked else (),
    )


def _texts(picture: Heat, matrix: Sequence[Row]) -> list[list[str]]:
    """Return the numbers of a matrix, with digits enough to tell a wrong one from the right one."""
    texts = []
    for row, pairs, wrongs in zip(matrix, _pairs(picture), picture.wrong, strict=True):
        own = []
        for value, (actual, expected), wrong in zip(row, pairs, wrongs, strict=True):
            known = wrong and _known(actual, expected)
            alike = known and brief(float(actual)) == brief(float(expected or 0))
            number = float(value or 0)
            own.append(figure(number, _MORE_DIGITS) if alike else brief(number))
        texts.append(own)
    return texts


def _cell(value: Number | None, largest: float, text: str, *, wrong: bool = False) -> Cell:
    if value is None:
        return Cell("any", hatched=True)
    number = float(value)
    if not math.isfinite(number):
        return Cell(figure(number), wrong=wrong, hatched=True)
    depth = min(1.0, abs(number) / largest)
    return Cell(text, "minus" if number < 0 else "plus", depth, wrong=wrong)


def _difference(picture: Heat) -> Grid:
    largest = _largest(picture)
    rows = []
    for pairs, wrongs in zip(_pairs(picture), picture.wrong, strict=True):
        row = []
        for (actual, expected), wrong in zip(pairs, wrongs, strict=True):
            if not _known(actual, expected):
                row.append(Cell("–", hatched=True))
                continue
            gap = float(actual) - float(expected or 0) if wrong else 0.0  # less is rounding
            depth = min(1.0, abs(gap) / largest)
            row.append(Cell(brief(gap, signed=True), "minus" if gap < 0 else "plus", depth))
        rows.append(tuple(row))
    return Grid(
        title=f"{picture.output}, actual minus expected",
        described="; ".join(
            f"{label}: {', '.join(cell.text for cell in row)}"
            for label, row in zip(
                labels(picture.rows, picture.corner[0], len(rows)), rows, strict=True
            )
        ),
        rows=labels(picture.rows, picture.corner[0], len(rows)),
        columns=labels("", picture.corner[1], len(rows[0])),
        across=picture.columns[:LABEL],
        cells=tuple(rows),
    )


def _pairs(picture: Heat) -> list[list[tuple[Number, Number | None]]]:
    return [
        list(zip(actual, expected, strict=True))
        for actual, expected in zip(picture.actual, picture.expected, strict=True)
    ]


def _known(actual: Number, expected: Number | None) -> bool:
    return expected is not None and all(math.isfinite(float(x)) for x in (actual, expected))


def _largest(picture: Heat) -> float:
    """Return what fills a square: 1 for probabilities, else the largest expected value."""
    if picture.probabilities:
        return 1.0
    values = [abs(float(x)) for row in picture.expected for x in row if x is not None]
    return max((value for value in values if math.isfinite(value)), default=1.0) or 1.0


def _is_whole(picture: Heat) -> bool:
    return picture.probabilities and picture.corner[1] + _width(picture) == picture.whole[1]


def _width(picture: Heat) -> int:
    return len(picture.expected[0]) if picture.expected else 0


def _sum(row: Row, *, marked: bool) -> Cell:
    if None in row:
        return Cell("any")
    total = sum(float(x) for x in row if x is not None)
    return Cell(brief(total), wrong=marked and not _is_one(total))


def _is_one(total: float) -> bool:
    return abs(total - 1) <= SLACK


def _columns(picture: Heat, matrix: Sequence[Row]) -> list[float]:
    return [sum(float(x) for x in column if x is not None) for column in zip(*matrix, strict=True)]


def _below(picture: Heat, matrix: Sequence[Row]) -> tuple[Cell, ...]:
    """Return the sums of the columns, when it is these that are 1."""
    totals = _columns(picture, matrix) if _is_all(picture) else []
    rows = [sum(float(x) for x in row if x is not None) for row in matrix]
    if totals and all(map(_is_one, totals)) and not all(map(_is_one, rows)):
        return tuple(Cell(brief(total)) for total in totals)
    return ()


def _is_all(picture: Heat) -> bool:
    return _is_whole(picture) and len(picture.expected) == picture.whole[0]


def _described(picture: Heat, matrix: Sequence[Row]) -> str:
    names = labels(picture.rows, picture.corner[0], len(matrix))
    return "; ".join(
        f"{name}: {', '.join('any' if x is None else brief(float(x)) for x in row)}"
        for name, row in zip(names, matrix, strict=True)
    )


def _claim(picture: Heat) -> str:
    """Say in a sentence or two what the picture proves."""
    return " ".join(
        filter(None, (_of_numbers(picture), _of_sums(picture) or _of_sharpness(picture)))
    )


def _of_numbers(picture: Heat) -> str:
    lost = [
        place
        for place, row in enumerate(picture.actual)
        if any(not math.isfinite(float(value)) for value in row)
    ]
    if not lost:
        wrong = sum(map(sum, picture.wrong))
        total = sum(map(len, picture.wrong))
        verb = "differs" if wrong == 1 else "differ"
        return f"{wrong} of {plural(total, 'value')} {verb}."
    names = listed([f"{picture.rows} {picture.corner[0] + place}" for place in lost])
    free = all(picture.expected[place][0] is None for place in lost)
    why = "; any finite number would do, as no key is allowed there" if free else ""
    return f"NaN or infinite: {names}{why}."


def _of_sums(picture: Heat) -> str:
    if not _is_whole(picture):
        return ""
    rows = [sum(float(x) for x in row) for row in picture.actual]
    off = [total for total, row in zip(rows, picture.expected, strict=True)
           if None not in row and math.isfinite(total) and not _is_one(total)]  # fmt: skip
    if not off:
        return ""
    totals = _columns(picture, picture.actual)
    said = listed([brief(total) for total in off[:4]])
    what = "A row sums" if len(off) == 1 else "Rows sum"
    instead = ""
    if _is_all(picture) and all(map(_is_one, totals)):
        instead = "; it is the columns that sum to 1"
    elif _is_all(picture) and _is_one(sum(totals)):
        instead = "; it is the whole matrix that sums to 1"
    return f"{what} to {said}, expected 1{instead}."


def _of_sharpness(picture: Heat) -> str:
    """Say whether weights prefer the same keys, only more or less: then the scale is at fault."""
    lost = any(not math.isfinite(float(value)) for row in picture.actual for value in row)
    if lost or not picture.probabilities or _width(picture) < 2:
        return ""
    shifts = set()
    for actual, expected in zip(picture.actual, picture.expected, strict=True):
        if None in expected:
            continue
        pairs = [(float(e or 0), float(a)) for a, e in zip(actual, expected, strict=True)]
        if sorted(range(len(pairs)), key=lambda i: pairs[i][0]) != sorted(
            range(len(pairs)), key=lambda i: pairs[i][1]
        ):
            return ""
        shift = max(a for _, a in pairs) - max(e for e, _ in pairs)
        shifts.add("sharper" if shift > 0 else "flatter" if shift < 0 else "")
    if len(shifts) != 1 or not (how := shifts.pop()):
        return ""
    return f"Every query prefers the same keys as it should, but the weights are {how}."
