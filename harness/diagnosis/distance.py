"""How far is a recorded answer from what an implementation would have given?

Like the comparator, but it must also recognise *wrong* answers: NaN where NaN is expected, an
exception where one is expected. Rows that no criterion compares (queries without an allowed key)
agree when both are finite or neither is.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import numpy as np

from harness.candidate import Recorded, is_array
from harness.protocol import Output, Tensor
from harness.spec import COARSER, Expected, error_ratios, roundoff_of

Implementation = Mapping[str, Callable[..., tuple[Expected, ...]]]

#: So many roundoffs of a row's largest value are rounding: the bound need not be computed.
NEAR: Final = 16
#: An error of this share of the largest value is none: bounds stay below, even for logits of 5,000.
FAR: Final = 2.0**-5

#: So many roundoffs of the largest value stand for a bound that is not known.
UNBOUNDED: Final = 1e3

#: Values so large are a fill that shows through: how large it is, or whether it overflows, is the
#: submission's own choice.
HUGE: Final = 1e6

#: Exceptions that say the same: something is used that this assignment does not have.
REFUSALS: Final = frozenset({"ImportError", "ModuleNotFoundError", "NotByHand"})

#: Exceptions of numpy and torch for shapes that do not fit.
MISFITS: Final = frozenset({"ValueError", "IndexError", "RuntimeError"})

#: Formats whose own rounding hides which function was computed.
COARSE: Final = ("f2", "bf2")


class Distance(NamedTuple):
    """How far apart an answer and an implementation are, over all outputs of one call."""

    bounds: float  #: largest error in rounding bounds; inf when it is none
    allowed: float  #: so many bounds may an answer be off that was computed less precisely
    #: largest difference, relative to an output's largest value if that is above 1; inf when one
    #: raised, or shapes differ
    difference: float

    @property
    def fits(self) -> bool:
        """Whether the difference is rounding, perhaps that of float32 within float64."""
        return self.bounds <= self.allowed

    @property
    def is_fine(self) -> bool:
        """Whether the difference is the rounding of the answer's own format."""
        return self.bounds <= 1.0


SAME: Final = Distance(0.0, 1.0, 0.0)
APART: Final = Distance(math.inf, 1.0, math.inf)


def usable(recorded: Recorded) -> bool:
    """Tell whether a call can tell functions apart: no half formats, no array that it has twice.

    What a flaw does is computed on copies, so that it does not see that two arguments are one.
    """
    arrays = [id(argument) for argument in recorded.arguments if is_array(argument)]
    if len(set(arrays)) < len(arrays):
        return False
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


def outputs(recorded: Recorded, implementation: Implementation) -> tuple[Expected, ...] | str:
    """Return what an implementation gives for a recorded call, or the name of what it raises.

    () where it is random, so that nothing can be said.
    """
    arguments = map(strided, recorded.given)
    try:
        with np.errstate(all="ignore"):
            return implementation[recorded.point.name](*arguments)
    except Exception as error:  # a flawed part may fail on shapes, as the submission would
        return type(error).__name__


def distance(recorded: Recorded, expected: tuple[Expected, ...] | str) -> Distance:
    """Return how far a recorded answer is from what an implementation gives for the call."""
    apart = list(_distances(recorded, expected))
    if len(apart) == 1:
        return apart[0]
    return Distance(
        max(one.bounds for one in apart),
        min(one.allowed for one in apart),
        max(one.difference for one in apart),
    )


def fits(recorded: Recorded, expected: tuple[Expected, ...] | str) -> bool:
    """Tell whether each output is what an implementation gives: the first that is not decides."""
    return all(one.fits for one in _distances(recorded, expected))


def _distances(recorded: Recorded, expected: tuple[Expected, ...] | str) -> Iterator[Distance]:
    """Yield the distance of each output, or one where none can be compared."""
    raised, outs = recorded.answer.raised, recorded.answer.outs
    if isinstance(expected, str):
        yield APART if raised is None else SAME
    elif not expected:
        yield SAME
    elif raised is not None or not outs:
        yield APART
    else:
        yield from (_distance(out, right) for out, right in zip(outs, expected, strict=False))


def raised_alike(recorded: Recorded, expected: tuple[Expected, ...] | str) -> bool:
    """Tell whether a call raised, and an implementation raises the same kind of exception."""
    if recorded.answer.raised is None or not isinstance(expected, str):
        return False
    kinds = {recorded.answer.raised.kind, expected}
    return len(kinds) == 1 or kinds <= REFUSALS or kinds <= MISFITS


def same(one: tuple[Expected, ...] | str, other: tuple[Expected, ...] | str) -> bool:
    """Tell whether two implementations gave the same values, up to a few roundoffs of float64."""
    if isinstance(one, str) or isinstance(other, str):
        return isinstance(one, str) and isinstance(other, str)
    return len(one) == len(other) and all(
        a.values.shape == b.values.shape
        and np.allclose(a.values, b.values, rtol=1e-12, atol=1e-300, equal_nan=True)
        for a, b in zip(one, other, strict=True)
    )


def differ(calls: Iterable[Recorded]) -> bool:
    """Tell whether equal calls of one check gave different outputs, by more than rounding."""
    answers: dict[tuple[object, ...], tuple[Output, ...]] = {}
    for call in calls:
        if call.answer.raised is None:
            outs = answers.setdefault((call.check, *_contents(call)), call.answer.outs)
            if any(map(_unlike, outs, call.answer.outs)):
                return True
    return False


def _contents(call: Recorded) -> Iterator[object]:
    """Yield what tells a call from another: its arguments, and the object's state."""
    given: list[object] = [*call.arguments]
    if call.on is not None:
        given += [call.on.made_of, *call.on.weights.values(), *itertools.chain(*call.on.before)]
    for value in given:
        array = strided(value)
        yield (array.tobytes(), array.strides) if isinstance(array, np.ndarray) else array


def _unlike(one: Output, other: Output) -> bool:
    if not isinstance(one, Tensor) or not isinstance(other, Tensor):
        return False
    if one.values.shape != other.values.shape:
        return True
    largest = np.abs(one.values[np.isfinite(one.values)]).max(initial=0.0)
    return not np.allclose(one.values, other.values, rtol=0, atol=FAR * largest, equal_nan=True)


def _distance(output: Output, expected: Expected) -> Distance:
    if isinstance(output, (bool, int, float)):
        output = Tensor(np.asarray(output, np.float64), "f8")
    if not isinstance(output, Tensor) or output.values.shape != expected.values.shape:
        return APART
    errors, size = _errors(output, expected)
    if not size.size:
        return SAME
    worst, largest = errors.max(), size.max()
    finite: Any = True
    if not (worst < math.inf and largest <= HUGE):
        output, finite = _without_fills(output, expected.values)
        if (np.isfinite(output.values) != finite).any():
            return APART
        errors, size = np.where(finite, errors, 0.0), np.where(finite, size, 0.0)
        worst, largest = errors.max(), size.max()
    if expected.compared is not None:
        errors = np.where(expected.compared, errors, 0.0)
        worst = errors.max()
    unit = roundoff_of(output.dtype)
    allowed = COARSER.get(output.dtype, unit) / unit
    difference = float(worst) / max(float(largest), 1.0)
    if worst > FAR * largest:
        return Distance(math.inf, allowed, difference)
    if (errors <= NEAR * unit * size.max(-1, keepdims=True)).all():
        return Distance(0.0, allowed, difference)
    bounded = _bounded(expected, float(largest))
    ratios = np.where(finite, error_ratios(output, bounded, unit), 0.0)
    return Distance(float(ratios.max()), allowed, difference)


def _bounded(expected: Expected, largest: float) -> Expected:
    """Bound by the largest value what a flaw has no bound for, as NaN went into it."""
    with np.errstate(all="ignore"):  # NaN may have gone into what is computed only now
        roundoffs = expected.roundoffs
    if np.isfinite(roundoffs).all():
        return expected
    bounds = np.where(np.isfinite(roundoffs), roundoffs, UNBOUNDED * max(largest, 1.0))
    return Expected(expected.values, bounds, expected.compared)


def _without_fills(output: Tensor, expected: Any) -> tuple[Tensor, Any]:
    """Return the output, and what is to be finite in it, with NaN where fills show in both."""
    with np.errstate(all="ignore"):
        shown = (np.abs(expected) > HUGE) & ~(np.abs(output.values) <= HUGE)
    finite = np.isfinite(expected) & ~shown
    return Tensor(np.where(shown, np.nan, output.values), output.dtype), finite


def _errors(output: Tensor, expected: Expected) -> tuple[Any, Any]:
    """Return the errors and the sizes of all values, at least one-dimensional."""
    with np.errstate(all="ignore"):
        errors, size = np.abs(output.values - expected.values), np.abs(expected.values)
    return (errors, size) if size.ndim else (np.atleast_1d(errors), np.atleast_1d(size))
