"""What moves what: positions that reach a row, and slices of the features that reach a head's.

From calls of which each differs from the first in one place only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from harness.evidence.pictures import Floats, Window, reach, visible
from harness.results import Visibility

#: Influence of one place on another, as a share of the largest output.
MOVED: Final = 1e-6


class Change(NamedTuple):
    """One call, with what it gave and what it should have given; all (…, length, features)."""

    arguments: Sequence[Floats]
    actual: Floats
    expected: Floats


def of_positions(calls: Sequence[Change]) -> Visibility | None:
    """Show which positions move which rows, where it is not as it should be.

    Each call but the first differs from it in one position.
    """
    if not _comparable(calls):
        return None
    base, *others = calls
    places = [_position(base.arguments, call.arguments) for call in others]
    if None in places or places != list(range(places[0] or 0, (places[0] or 0) + len(places))):
        return None
    seen = np.stack([_moved(base.actual, call.actual) for call in others], axis=-1)
    allowed = np.stack([_moved(base.expected, call.expected) for call in others], axis=-1)
    if not (allowed != seen).any():
        return None
    window = Window(allowed != seen)
    return visible(window, reach(allowed, seen), found_by="change", first=places[0] or 0)


def of_slices(calls: Sequence[Change], names: Sequence[str]) -> Visibility | None:
    """Show which slices of an argument move which of the output, where it is not as it should be.

    Head i is the i-th slice of the features. Each call but the first differs from it in some
    features of one argument. The last argument that tells is shown, as the values are what an
    output is made of.
    """
    shapes = {(call.actual.shape, *(one.shape for one in call.arguments)) for call in calls}
    if not _comparable(calls) or len(shapes) != 1:
        return None
    base, *others = calls
    changed = [_features(base.arguments, call.arguments) for call in others]
    width = max(features.size for _, features in changed)
    whole = base.actual.shape[-1]
    if not width or whole % width:
        return None
    count = whole // width
    for argument in reversed(range(len(names))):
        seen, allowed = np.zeros((2, count, count), bool)
        for call, (where, features) in zip(others, changed, strict=True):
            if where == argument:
                place = features[0] // width
                seen[:, place] |= _moved_slices(base.actual, call.actual, count)
                allowed[:, place] |= _moved_slices(base.expected, call.expected, count)
        if (seen != allowed).any():
            return visible(
                Window(seen != allowed),
                reach(allowed, seen),
                found_by="slice",
                rows="out slice",
                columns=f"{names[argument]} slice",
            )
    return None


def _comparable(calls: Sequence[Change]) -> bool:
    return len(calls) > 1 and all(np.isfinite(call.actual).all() for call in calls)


def _position(before: Sequence[Floats], after: Sequence[Floats]) -> int | None:
    """Return the one position, on the last axis but one, at which arguments differ."""
    places: set[int] = set()
    for one, other in zip(before, after, strict=False):
        if one.shape != other.shape:
            return None
        if one.ndim > 1 and (one != other).any():
            differing = (one != other).any(-1).reshape(-1, one.shape[-2]).any(0)
            places |= {int(place) for place in np.flatnonzero(differing)}
    return places.pop() if len(places) == 1 else None


def _features(before: Sequence[Floats], after: Sequence[Floats]) -> tuple[int, Floats]:
    """Return the first argument that differs, and the features in which it does."""
    for argument, (one, other) in enumerate(zip(before, after, strict=True)):
        features = np.flatnonzero((one != other).any(tuple(range(one.ndim - 1))))
        if features.size:
            return argument, features
    return -1, np.zeros(0, int)


def _moved(before: Floats, after: Floats) -> Floats:
    """Tell which rows moved."""
    size = np.abs(before).max(initial=1.0)
    moved: Floats = ~(np.abs(after - before).max(-1) <= MOVED * size)
    return moved


def _moved_slices(before: Floats, after: Floats, count: int) -> Floats:
    """Tell which of so many slices of the features moved, in any row."""
    rows = (-1, count, before.shape[-1] // count)
    return np.asarray(_moved(before.reshape(rows), after.reshape(rows)).any(0))
