"""Which slices of the features belong together: where each head's part of an output came from.

Head i is the i-th slice of the features. In calls of a layer whose projections change nothing,
changing a slice of one input moves that slice of the output, and no other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from harness.pictures import MOVED, Floats, reach
from harness.results import Reach, Visibility


class Change(NamedTuple):
    """One call, with what it gave and what it should have given; all (…, length, features)."""

    arguments: Sequence[Floats]
    actual: Floats
    expected: Floats


def slices(calls: Sequence[Change], names: Sequence[str]) -> Visibility | None:
    """Show which slices of an argument move which of the output, where it is not as it should be.

    Each call but the first differs from it in some features of one argument. The last argument
    that tells is shown, as the values are what an output is made of.
    """
    shapes = {(call.actual.shape, *(one.shape for one in call.arguments)) for call in calls}
    if len(shapes) != 1 or not all(np.isfinite(call.actual).all() for call in calls):
        return None
    base, *others = calls
    changed = [_changed(base.arguments, call.arguments) for call in others]
    width = max((features.size for _, features in changed), default=0)
    whole = base.actual.shape[-1]
    if not width or whole % width:
        return None
    count = whole // width
    for argument in reversed(range(len(names))):
        seen, allowed = np.zeros((2, count, count), bool)
        for call, (where, features) in zip(others, changed, strict=True):
            if where == argument:
                place = features[0] // width
                seen[:, place] |= _moved(base.actual, call.actual, count)
                allowed[:, place] |= _moved(base.expected, call.expected, count)
        if (seen != allowed).any():
            return Visibility(
                found_by="slice",
                place="",
                rows="out slice",
                columns=f"{names[argument]} slice",
                whole=(count, count),
                cells=tuple(tuple(map(Reach, row)) for row in reach(allowed, seen)),
            )
    return None


def _changed(before: Sequence[Floats], after: Sequence[Floats]) -> tuple[int, Floats]:
    """Return the first argument that differs, and the features in which it does."""
    for argument, (one, other) in enumerate(zip(before, after, strict=True)):
        features = np.flatnonzero((one != other).any(tuple(range(one.ndim - 1))))
        if features.size:
            return argument, features
    return -1, np.zeros(0, int)


def _moved(before: Floats, after: Floats, count: int) -> Floats:
    """Tell which of so many slices of the features moved."""
    size = np.abs(before).max(initial=1.0)
    moved = np.abs(after - before).reshape(-1, count, before.shape[-1] // count)
    found: Floats = moved.max((0, 2)) > MOVED * size
    return found
