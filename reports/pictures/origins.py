"""Where the elements of an output came from: positions are letters, the other axes numbers."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from harness.results import Rearrangement
from reports.pictures.grid import Cell, Figure, Grid, Group, labels
from reports.words import plural

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

Shape = tuple[int, ...]


def draw(picture: Rearrangement) -> Figure:
    """Lay out the source, then each slice of the output as it should be and as it is."""
    same = picture.shape == picture.actual_shape
    wrong = tuple(
        not same or one != other
        for one, other in zip(picture.actual, picture.expected, strict=False)
    )
    item = _item(picture, wrong) if same else 0
    source = tuple(range(prod(picture.source_shape)))
    groups = (
        Group(f"{picture.source}, as given", _grids(picture, picture.source, picture.source_shape,
                                                    source, item)),
        Group(f"{picture.output}, expected", _grids(picture, picture.output, picture.shape,
                                                    picture.expected, item)),
        Group(f"{picture.output}, actual", _grids(picture, picture.output, picture.actual_shape,
                                                  picture.actual, item, wrong)),
    )  # fmt: skip
    return Figure(
        title=f"Where each element of {picture.output} came from",
        claim=_claim(picture, wrong, item),
        groups=groups,
    )


def _item(picture: Rearrangement, wrong: Sequence[bool]) -> int:
    """Return the first item of the batch in which something is wrong."""
    size = max(1, prod(picture.shape[1:]))
    first = wrong.index(True) if True in wrong else 0
    return first // size


def _grids(
    picture: Rearrangement,
    name: str,
    shape: Shape,
    places: Sequence[int | None],
    item: int,
    wrong: Sequence[bool] = (),
) -> tuple[Grid, ...]:
    """Return one grid for each matrix of an item: for each head, or the only one."""
    if len(shape) < 2:
        shape = (1, 1, *shape)
    height, width = shape[-2:]
    inner = shape[1:-2] if len(shape) > 2 else ()
    start = item * prod(shape[1:]) if len(shape) > 2 else 0
    grids = []
    for number in range(prod(inner)):
        first = start + number * height * width
        cells = tuple(
            tuple(
                _cell(picture, places[at], bool(wrong) and at < len(wrong) and wrong[at])
                for at in range(first + row * width, first + (row + 1) * width)
                if at < len(places)
            )
            for row in range(height)
        )
        title = f"{name}, head {number}" if len(shape) == 4 else name
        grids.append(
            Grid(
                title=title,
                described="; ".join(
                    f"row {row}: {', '.join(cell.text for cell in line)}"
                    for row, line in enumerate(cells)
                ),
                rows=labels("", 0, height),
                columns=labels("", 0, width),
                across=f"head {number}" if len(shape) == 4 else "",
                cells=cells,
            )
        )
    return tuple(grids)


def _cell(picture: Rearrangement, place: int | None, wrong: bool) -> Cell:
    if place is None:
        return Cell("?", wrong=wrong, hatched=True)
    letter, rest = _origin(picture, place)
    positions = picture.source_shape[-2] if len(picture.source_shape) > 1 else 1
    depth = 0.1 + 0.8 * LETTERS.index(letter[-1]) / max(positions - 1, 1)
    return Cell(letter + rest, "plus", min(depth, 1.0), wrong=wrong)


def _origin(picture: Rearrangement, place: int) -> tuple[str, str]:
    """Return a place's position as a letter, and its index on the other axes."""
    index: list[int] = []
    for length in reversed(picture.source_shape):
        place, at = divmod(place, max(length, 1))
        index.insert(0, at)
    position = index.pop(-2) if len(index) > 1 else 0
    item = index.pop(0) if len(index) > 1 else 0
    letter = LETTERS[position % len(LETTERS)]
    many = len(picture.source_shape) > 2 and picture.source_shape[0] > 1
    return f"{item}{letter}" if many else letter, ".".join(map(str, index))


def _claim(picture: Rearrangement, wrong: Sequence[bool], item: int) -> str:
    if picture.shape != picture.actual_shape:
        return f"The shape is {picture.actual_shape}, expected {picture.shape}."
    first = wrong.index(True) if True in wrong else 0
    right, found = picture.expected[first], picture.actual[first]
    should = "".join(_origin(picture, right))
    named = (
        "a number that is not in the input" if found is None else "".join(_origin(picture, found))
    )
    count = f"{sum(wrong)} of {plural(len(wrong), 'element')} came from elsewhere"
    said = f"{count}: the first of them should be {should}, and is {named}."
    axes = "heads and features" if len(picture.source_shape) == 4 else "features"
    items = ", a number before them items of the batch" if picture.source_shape[0] > 1 else ""
    return f"{_of_positions(picture)} {said} Letters are positions, numbers {axes}{items}.".strip()


def _of_positions(picture: Rearrangement) -> str:
    """Say whether slices mix positions that should be apart, or miss some of them."""
    length = picture.shape[-2] * picture.shape[-1] if len(picture.shape) == 4 else 0
    if length:
        for number, start in enumerate(range(0, len(picture.expected), length)):
            should = _positions(picture, picture.expected[start : start + length])
            found = _positions(picture, picture.actual[start : start + length])
            if found < should:
                head = number % picture.shape[1]
                return (
                    f"Head {head} holds numbers of position {', '.join(sorted(found))} only, "
                    f"and should hold a slice of every position."
                )
    width = picture.shape[-1]
    mixed = 0
    for start in range(0, len(picture.expected), width):
        should = _positions(picture, picture.expected[start : start + width])
        found = _positions(picture, picture.actual[start : start + width])
        mixed += len(found) > len(should)
    rows = len(picture.expected) // max(width, 1)
    return (
        f"A row should hold one position; {mixed} of {plural(rows, 'row')} mix several."
        if mixed
        else ""
    )


def _positions(picture: Rearrangement, places: Sequence[int | None]) -> set[str]:
    return {_origin(picture, place)[0] for place in places if place is not None}
