"""Square matrices of who may attend."""

from __future__ import annotations

from typing import Final

from specs.criteria.notation.plain import plain

_ALLOWED: Final = {"1", "1.0", "true", "✓", "✔", "√", "yes"}
_BLOCKED: Final = {"0", "0.0", "false", "✗", "✘", "×", "x", ".", "no"}
_ADDED: Final = {"-inf", "-∞", "-infinity"}
_CELLS: Final = _ALLOWED | _BLOCKED | _ADDED
_NOT_PLAIN: Final = ("triu", "diagonal", "k=", "~", "not")


def grid(text: str, size: int) -> tuple[bool, ...] | None:
    """Read a square matrix of who may attend, row by row: 1 and 0, True and False, 0 and -inf.

    Labels, brackets, rules of tables and sentences around it are passed over; ``tril(…)`` alone is
    the lower triangle.
    """
    text = plain(text)
    rows = [row for line in text.splitlines() if (row := _cells(line, size))]
    cells = [cell for row in rows for cell in row]
    if not cells and "tril(" in text and not any(word in text for word in _NOT_PLAIN):
        return tuple(j <= i for i in range(size) for j in range(size))
    if len(cells) != size * size:
        return None
    if _ADDED & set(cells):
        return tuple(cell not in _ADDED for cell in cells)
    return tuple(cell in _ALLOWED for cell in cells)


def _cells(line: str, size: int) -> list[str]:
    """Return the cells of whole rows that a line holds, without the label before them."""
    cells: list[str] = []
    others = 0
    for word in line.rpartition(":")[2].translate(str.maketrans("[](),;|", "       ")).split():
        if len(word) == size > 1 and set(word) <= {"0", "1"}:
            cells += word
        elif word in _CELLS:
            cells.append(word)
        else:
            others += 1
    # A label per row, or a name such as "mask =" before the first.
    whole = bool(cells) and len(cells) % size == 0
    return cells if whole and others <= max(2, len(cells) // size) else []
