"""What a mask lets through: for each query and key, whether it may see it and whether it does.

And what heads mix: for each slice of the output and of an input, whether one moves the other.
"""

from __future__ import annotations

from harness.results import Number, Reach, Visibility
from reports.pictures.grid import LABEL, Cell, Figure, Grid, Group, Key, brief, labels, listed

#: Sign in a square, and what it means.
SIGNS = {
    Reach.OPEN: ("✓", "allowed, and seen"),
    Reach.CLOSED: ("·", "blocked, and not seen"),
    Reach.LEAK: ("✕", "blocked, but seen: a leak"),
    Reach.LOST: ("○", "allowed, but not seen"),
    Reach.FREE: ("~", "no key is allowed; any finite answer is right"),
    Reach.NAN: ("?", "not a number"),
}

#: What went wrong, in words that follow "query 0 and key 1".
ODD = (Reach.LEAK, Reach.LOST, Reach.NAN)

HEADINGS = {
    "weights": "Which keys still get a weight",
    "change": "Which rows move when one position changes",
    "mask": "Which keys the mask lets through",
    "slice": "Which slices of the features come from which",
}

#: What the signs mean for slices of the features: each head has one, in and out.
OF_SLICES = {
    Reach.OPEN: "its own slice, and moved by it",
    Reach.CLOSED: "another slice, and not moved by it",
    Reach.LEAK: "another slice, but moved by it: heads are mixed",
    Reach.LOST: "its own slice, but not moved by it",
}


def draw(picture: Visibility) -> Figure:
    """Lay out the matrix of what is seen, beside what may be."""
    rows = labels(picture.rows, picture.corner[0], len(picture.cells))
    columns = labels("", picture.corner[1], len(picture.cells[0]) if picture.cells else 0)
    cells = tuple(
        tuple(_cell(reach, _amount(picture, i, j)) for j, reach in enumerate(row))
        for i, row in enumerate(picture.cells)
    )
    grid = Grid(
        title=HEADINGS.get(picture.found_by, "What is seen"),
        described="; ".join(
            f"{name}: {', '.join(_words(picture, row, start=picture.corner[1]))}"
            for name, row in zip(rows, picture.cells, strict=True)
        ),
        rows=rows,
        columns=columns,
        across=picture.columns[:LABEL],
        cells=cells,
    )
    present = {reach for row in picture.cells for reach in row}
    title = HEADINGS.get(picture.found_by, "What is seen")
    return Figure(
        title=f"{title}, {picture.place}" if picture.place else title,
        claim=_claim(picture),
        groups=(Group("", (grid,)),),
        legend=tuple(
            Key(_cell(reach, None), _meaning(picture, reach)) for reach in SIGNS if reach in present
        ),
    )


def _amount(picture: Visibility, row: int, column: int) -> Number | None:
    return picture.amounts[row][column] if picture.amounts else None


def _cell(reach: Reach, amount: Number | None) -> Cell:
    sign, _ = SIGNS[reach]
    said = brief(float(amount)) if amount is not None and reach in (Reach.OPEN, Reach.LEAK) else ""
    return Cell(said, reach.value, 1.0, sign=sign, wrong=reach in ODD, hatched=reach is Reach.NAN)


def _words(picture: Visibility, row: tuple[Reach, ...], start: int) -> list[str]:
    return [
        f"{picture.columns} {start + place} {_meaning(picture, reach)}"
        for place, reach in enumerate(row)
    ]


def _meaning(picture: Visibility, reach: Reach) -> str:
    meanings = OF_SLICES if picture.found_by == "slice" else {}
    return meanings.get(reach, SIGNS[reach][1])


def _claim(picture: Visibility) -> str:
    odd = {
        kind: [
            (row, column)
            for row, cells in enumerate(picture.cells)
            for column, reach in enumerate(cells)
            if reach is kind
        ]
        for kind in ODD
    }
    said = [_of_leaks(picture, odd[Reach.LEAK]), _of_lost(picture, odd[Reach.LOST])]
    if odd[Reach.NAN]:
        rows = sorted({row for row, _ in odd[Reach.NAN]})
        names = listed([f"{picture.rows} {picture.corner[0] + row}" for row in rows])
        said.append(f"The weights of {names} are not numbers.")
    return " ".join(filter(None, said))


def _of_leaks(picture: Visibility, leaks: list[tuple[int, int]]) -> str:
    if not leaks:
        return ""
    row, column = leaks[0]
    query, key = _names(picture, row, column)
    match picture.found_by:
        case "weights":
            amount = brief(float(picture.amounts[row][column]))
            said = f"{query} gives {amount} of its weight to {key}, which the mask blocks"
        case "change":
            said = f"{query} moves when {key} changes, which it may not see"
        case "slice":
            said = f"{query} moves when {key} changes, which belongs to another head"
        case _:
            said = f"The mask lets {query.lower()} see {key}, which it must not"
    return f"{said}{_and_more(len(leaks) - 1)}."


def _of_lost(picture: Visibility, lost: list[tuple[int, int]]) -> str:
    if not lost:
        return ""
    query, key = _names(picture, *lost[0])
    match picture.found_by:
        case "weights":
            said = f"{query} gives nothing to {key}, which is allowed"
        case "change":
            said = (
                f"{query} does not move when position {key.split()[-1]} changes, which it may see"
            )
        case "slice":
            said = f"{query} does not move when {key} changes, which belongs to the same head"
        case _:
            said = f"The mask keeps {query.lower()} from {key}, which it may see"
    return f"{said}{_and_more(len(lost) - 1)}."


def _names(picture: Visibility, row: int, column: int) -> tuple[str, str]:
    query = f"{picture.rows} {picture.corner[0] + row}".capitalize()
    return query, f"{picture.columns} {picture.corner[1] + column}"


def _and_more(count: int) -> str:
    return f" (and {count} more)" if count else ""
