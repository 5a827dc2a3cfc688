"""How much of what is wrong with an answer may be the effect of two flaws together?

For the order in which pairs are tried. Nothing is claimed from it: effects do not just add up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

Floats = np.ndarray[Any, Any]
Outputs = Sequence[Floats]  #: of one call; none where it raised

#: Effects of a correlation so near to 1 are the same: a second adds nothing to the first.
ALIKE: Final = 1 - 1e-6


def explained_variance_of_pairs(
    answer: Outputs, right: Outputs, wrong: Sequence[Outputs]
) -> Floats:
    """Return which share of an answer's error two flaws make up, for every two of n: (n, n).

    ``right`` is what the reference gives, ``wrong`` what it gives with each of the flaws. The
    share is the coefficient of determination of a linear regression on two effects,
    R² = (a² + b² - 2abr) / (1 - r²), from the correlations a and b of each with the error, and r
    of one with the other.
    """
    shapes = [out.shape for out in answer]
    error = _effect(answer, right, shapes)
    effects = np.stack([_effect(outs, right, shapes) for outs in wrong])
    alone, between = effects @ error, effects @ effects.T
    a, b = alone[:, None], alone[None, :]
    alike = np.abs(between) > ALIKE
    both = (a**2 + b**2 - 2 * a * b * between) / np.where(alike, 1.0, 1 - between**2)
    found: Floats = np.where(alike, a**2, both)
    return found


def _effect(outs: Outputs, right: Outputs, shapes: Sequence[tuple[int, ...]]) -> Floats:
    """Return in what outputs differ from the right ones, as one vector of length 1.

    It is 0 where that is no number, or where the output is of another shape than the answer.
    """
    parts = [np.zeros(math.prod(shape)) for shape in shapes]
    for place, (out, shape) in enumerate(zip(outs, shapes, strict=False)):
        if out.shape == shape:
            start = right[place] if place < len(right) and right[place].shape == shape else 0.0
            with np.errstate(all="ignore"):
                parts[place] = np.asarray(out - start).ravel()
    effect = np.concatenate([*parts, np.empty(0)])
    effect[~np.isfinite(effect)] = 0.0
    with np.errstate(over="ignore"):
        return np.asarray(effect / (np.linalg.norm(effect) or 1.0))
