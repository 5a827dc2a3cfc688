"""Does a recorded answer agree with what an implementation would have given?

Like the comparator, but it must also recognise *wrong* answers: NaN where NaN is expected, an
exception where one is expected. Rows that no criterion compares (queries without an allowed key)
agree when both are finite or neither is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from harness.calls import Output, Tensor, Unsupported
from harness.candidate import Recorded
from harness.compare import COARSER, Expected, error_ratios, roundoff_of

Implementation = Mapping[str, Callable[..., tuple[Expected, ...]]]

#: So many roundoffs of its own size are within any value's bound, which need not be computed.
NEAR = 8

#: Formats whose own rounding hides which function was computed.
COARSE = ("f2", "bf2")


def usable(recorded: Recorded) -> bool:
    """Tell whether a call can tell functions apart: no half formats, no random dropout."""
    tensors = (argument for argument in recorded.arguments if isinstance(argument, Tensor))
    return not any(tensor.dtype in COARSE for tensor in tensors)


def strided(value: object) -> object:
    """Return an argument as the submission got it: an array laid out in memory as was asked."""
    array = value.values if isinstance(value, Tensor) else value
    if not isinstance(array, np.ndarray):
        return value
    if isinstance(value, Tensor) and value.transposed and array.ndim > 1:
        return np.ascontiguousarray(array.swapaxes(-1, -2)).swapaxes(-1, -2)
    return np.ascontiguousarray(array)


def disagreement(
    recorded: Recorded, implementation: Implementation, *, coarsely: bool = False
) -> float:
    """Return how far a recorded answer is from an implementation's, in rounding bounds.

    ``coarsely`` takes the bounds of the precision below, e.g. float32 within float64.

    inf when one raises and the other does not, when shapes differ, or when one is finite where
    the other is not.
    """
    expected = outputs(recorded, implementation)
    if expected is None:
        return 0.0 if recorded.answer.raised is not None else math.inf
    if not expected:  # random, so nothing can be said
        return 0.0
    outs = recorded.answer.outs
    if recorded.answer.raised is not None or not outs:
        return math.inf
    pairs = zip(outs, expected, strict=False)
    return max((_distance(output, right, coarsely) for output, right in pairs), default=0.0)


def outputs(recorded: Recorded, implementation: Implementation) -> tuple[Expected, ...] | None:
    """Return what an implementation gives for a recorded call, or None when it raises."""
    arguments = map(strided, recorded.given)
    try:
        with np.errstate(all="ignore"):
            return implementation[recorded.point.name](*arguments)
    except Exception:  # a flawed part may fail on shapes, as the submission would
        return None


def same(one: tuple[Expected, ...], other: tuple[Expected, ...]) -> bool:
    """Tell whether two implementations gave the same values, up to a few roundoffs of float64."""
    return all(
        a.values.shape == b.values.shape
        and np.allclose(a.values, b.values, rtol=1e-12, atol=1e-300, equal_nan=True)
        for a, b in zip(one, other, strict=True)
    )


def _distance(output: Output, expected: Expected, coarsely: bool) -> float:
    if isinstance(output, (bool, int, float)):
        output = Tensor(np.asarray(output, np.float64), "f8")
    if not isinstance(output, Tensor) or isinstance(output, Unsupported):
        return math.inf
    if output.values.shape != expected.values.shape:
        return math.inf
    unit = COARSER.get(output.dtype, 0.0) if coarsely else roundoff_of(output.dtype)
    with np.errstate(all="ignore"):
        errors = np.abs(output.values - expected.values)
    if (errors <= NEAR * unit * np.abs(expected.values)).all():
        return 0.0
    finite = np.isfinite(expected.values)
    if (np.isfinite(output.values) != finite).any():
        return math.inf
    ratios: Any = np.where(finite, error_ratios(output, expected, unit), 0.0)
    return float(ratios.max()) if ratios.size else 0.0
