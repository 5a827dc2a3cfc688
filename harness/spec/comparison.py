"""The comparator: is an answer within the rounding bound of what is expected?

An expected value comes with ``roundoffs``: by how many unit roundoffs u a right answer may be
off, element by element, whatever order it computes in. The bound is then u(dtype) · roundoffs.
Three bands: *fine* within the bound; *imprecise* within the bound of the next coarser precision
(float32 inside a float64 answer), which passes with a note; *wrong* beyond. Near that limit an
error is *borderline*: what is drawn would decide, so the check runs again on inputs of the spec.

Shape is compared first and exactly, then finiteness, then values, in the form ``error <= bound``
so that NaN is never accepted.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable
from typing import Any, Final

import numpy as np

from harness.errors import CheckFailed
from harness.protocol import Opaque, Output, Tensor, Unsupported
from harness.results import Mismatch, number

Floats = np.ndarray[Any, Any]

#: Unit roundoff u = 2^-p of each format with p significant bits (IEEE 754; bfloat16 has p = 8).
ROUNDOFF: Final = {"f8": 2.0**-53, "f4": 2.0**-24, "f2": 2.0**-11, "bf2": 2.0**-8}

#: Precision in which an answer of this dtype may have been computed without being wrong.
#: float32: four more bits lost are still rounding; float16 and bfloat16 have no coarser one.
COARSER: Final = {"f8": 2.0**-24, "f4": 2.0**-20, "f2": 2.0**-11, "bf2": 2.0**-8}

#: An error is borderline, in terms of what is accepted, beyond the first and up to the last: it may
#: be accepted for one draw and not for another. A float32 answer begins to be imprecise at 2^-4;
#: right ones in the formats that have no coarser one come to a third of what is accepted.
BORDERLINE_FROM: Final = {"f8": 2.0**-4, "f4": 2.0**-4, "f2": 0.5, "bf2": 0.5}
BORDERLINE_TO: Final = 100.0

#: What a sum of products may lose below the smallest normal number (2^-1022, 2^-126), where a
#: format has fewer digits and then none: a thousand such numbers.
UNDERFLOW: Final = {"f8": 2.0**-1012, "f4": 2.0**-116}

#: Formats by the names that people use.
NAMES: Final = {
    "f8": "float64", "f4": "float32", "f2": "float16", "bf2": "bfloat16", "b1": "bool",
    "i1": "int8", "i2": "int16", "i4": "int32", "i8": "int64", "u1": "uint8",
}  # fmt: skip


class Expected:
    """What a right answer is, and by how many unit roundoffs it may be off.

    ``values`` is float64, ``roundoffs`` broadcasts to it; given as a function, they are computed
    when they are first needed. Elements where ``compared`` is False are of no interest (rows
    without an allowed key, queries that are padding).
    """

    __slots__ = ("_roundoffs", "compared", "values")

    def __init__(
        self,
        values: Floats,
        roundoffs: Floats | float | Callable[[], Floats | float] = 0.0,
        compared: Floats | None = None,
    ) -> None:
        self.values = values
        self.compared = compared
        self._roundoffs = roundoffs

    @property
    def roundoffs(self) -> Floats:
        """The bound in unit roundoffs, as an array of the values' shape."""
        found = self._roundoffs
        if isinstance(found, np.ndarray) and found.shape == self.values.shape:
            return found
        found = np.asarray(found() if callable(found) else found, np.float64)
        self._roundoffs = found = np.broadcast_to(found, self.values.shape)
        return found

    def where(self, compared: Floats) -> Expected:
        """Return the same values with only some elements compared."""
        compared = np.broadcast_to(compared, self.values.shape)
        if self.compared is not None:
            compared = self.compared & compared
        return Expected(self.values, self._roundoffs, compared)

    def at(self, index: Any) -> Expected:
        """Return the part of the values at a numpy index."""
        compared = None if self.compared is None else self.compared[index]
        return Expected(self.values[index], self.roundoffs[index], compared)


def shape_name(shape: tuple[int, ...]) -> str:
    """Spell a shape as Python does."""
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


def tensor(output: Output, name: str, shape: tuple[int, ...] | None = None) -> Tensor:
    """Return an output as an array of numbers, of exactly the given shape.

    Raises:
        CheckFailed: it is something else; the message says what.
    """
    if isinstance(output, (bool, int, float)):
        # A plain number is an answer of shape () and float64, which is rarely what was asked.
        output = Tensor(np.asarray(output, dtype=np.float64), "f8")
    match output:
        case Tensor():
            pass
        case Unsupported(dtype, _):
            raise CheckFailed(f"{name} has dtype {dtype}, expected floating-point numbers")
        case Opaque(kind):
            raise CheckFailed(f"{name} is a {kind}, expected an array")
        case _:
            kind = "None" if output is None else type(output).__name__
            raise CheckFailed(f"{name} is {kind}, expected an array")
    if shape is not None and output.values.shape != shape:
        actual = shape_name(output.values.shape)
        raise CheckFailed(f"{name} has shape {actual}, expected {shape_name(shape)}")
    if output.values.dtype.kind == "b":  # True - True is refused by numpy, 1 - 1 is not
        return dataclasses.replace(output, values=output.values.astype(np.int8))
    return output


def roundoff_of(dtype: str) -> float:
    """Return the unit roundoff of a wire dtype; integers and bools are exact in float64."""
    return ROUNDOFF.get(dtype, ROUNDOFF["f8"])


def tolerance_dtype(dtype: str, precision: str) -> str:
    """Return the format whose rounding an answer of this dtype may show.

    That is its own, but none coarser than ``precision``: rounding an answer to float16 buys no
    tolerance where the inputs were float32.
    """
    return min(dtype if dtype in ROUNDOFF else "f8", precision, key=roundoff_of)


def error_ratios(actual: Tensor, expected: Expected, unit: float) -> Floats:
    """Return |actual - expected| / bound, element by element; NaN and inf give inf, 0/0 gives 0."""
    values = actual.values.astype(np.float64)
    with np.errstate(all="ignore"):
        errors = np.abs(values - expected.values)
        lost = UNDERFLOW["f8" if unit == ROUNDOFF["f8"] else "f4"]
        bound = np.where(expected.roundoffs == 0, 0.0, unit * expected.roundoffs + lost)
        ratios = np.where(errors <= bound, 0.0, np.inf)  # where the bound is 0 or the error NaN
        np.divide(errors, bound, out=ratios, where=np.isfinite(errors) & (bound > 0))
    if expected.compared is not None:
        ratios = np.where(expected.compared, ratios, 0.0)
    return ratios


@dataclasses.dataclass(frozen=True, slots=True)
class LargestError:
    """How far an output is off, where that is most."""

    bounds: float  #: in rounding bounds; up to 1 it is fine, beyond right but imprecise
    accepted: float  #: in terms of what is accepted; beyond 1 it is wrong
    format: str  #: whose rounding it may show

    @property
    def is_borderline(self) -> bool:
        """Whether it could be accepted for one draw and not for another."""
        return BORDERLINE_FROM[self.format] < self.accepted <= BORDERLINE_TO


def compare(output: Output, expected: Expected, name: str, precision: str = "f4") -> float:
    """Compare one output with what is expected, and return its largest error in rounding bounds.

    Raises:
        CheckFailed: not an array, another shape, not finite, or wrong.
    """
    judge = Judge()
    judge.close(output, expected, name, precision=precision)
    return judge.errors[name].bounds


def largest_error(actual: Tensor, expected: Expected, precision: str) -> LargestError:
    """Return how far a finite output of the right shape is off."""
    format = tolerance_dtype(actual.dtype, precision)
    bounds = float(error_ratios(actual, expected, ROUNDOFF[format]).max(initial=0.0))
    accepted = bounds * ROUNDOFF[format] / COARSER[format]
    if bounds > 1.0:  # what underflows is lost in both
        accepted = float(error_ratios(actual, expected, COARSER[format]).max(initial=0.0))
    return LargestError(bounds, accepted, format)


def _mismatch(
    actual: Tensor, expected: Expected, name: str, ratios: Floats, unit: float
) -> Mismatch:
    flat = int(np.argmax(ratios))
    index = np.unravel_index(flat, ratios.shape)
    bound = unit * expected.roundoffs
    return Mismatch(
        output=name,
        index=tuple(int(place) for place in index),
        actual=number(actual.values[index]),
        expected=number(expected.values[index]),
        allowed=number(bound[index]),
        ratio=number(ratios[index]),
        differing=int((ratios > 1.0).sum()),
        total=ratios.size,
    )


#: An error of more rounding bounds than this shows in six digits.
_NEAR: Final = 1000.0


def _describe(mismatch: Mismatch) -> str:
    place = "".join(f"[{i}]" for i in mismatch.index)
    ratio = mismatch.ratio
    # A larger one is seen in the numbers themselves.
    is_near = isinstance(ratio, float) and ratio < _NEAR
    times = f", {ratio:.3g} times what rounding explains" if is_near else ""
    return (
        f"{mismatch.output}{place} is {_short(mismatch.actual)}, "
        f"expected {_short(mismatch.expected)}{times}; "
        f"{mismatch.differing} of {mismatch.total} values differ"
    )


def _short(value: float | str) -> str:
    return f"{value:.6g}" if isinstance(value, float) and math.isfinite(value) else str(value)


class Judge:
    """Compares the answers of one check, and remembers what a passing answer should know."""

    def __init__(self) -> None:
        self._notes: list[str] = []
        #: The largest error of each output that was an array as asked for.
        self.errors: dict[str, LargestError] = {}
        self._is_near = self._has_missed = False

    @property
    def notes(self) -> tuple[str, ...]:
        """What a passing answer should know."""
        imprecise = (
            f"{what} is right but imprecise: off by {error.bounds:.3g} times what rounding explains"
            for what, error in self.errors.items()
            if error.bounds > 1.0
        )
        return (*self._notes, *imprecise)

    @property
    def is_borderline(self) -> bool:
        """Whether other inputs could decide otherwise about an answer that passed."""
        return self._is_near

    @property
    def is_near_miss(self) -> bool:
        """Whether other inputs could decide otherwise about an answer that failed."""
        return self._is_near and self._has_missed

    def close(
        self, output: Output, expected: Expected, name: str, *, precision: str = "f4"
    ) -> None:
        """Require an output to be within the rounding bound of what is expected.

        ``precision`` is the wire dtype of the inputs where these are coarser than float32.

        Raises:
            CheckFailed: not an array, another shape, not finite, or wrong.
        """
        actual = tensor(output, name, expected.values.shape)
        wanted = True if expected.compared is None else expected.compared
        broken = ~np.isfinite(actual.values) & wanted
        if broken.any():
            raise CheckFailed(
                f"{name} has {int(broken.sum())} of {broken.size} values that are NaN or infinite",
                _mismatch(actual, expected, name, np.where(broken, np.inf, 0.0), 0.0),
            )
        error = largest_error(actual, expected, precision)
        self._is_near |= error.is_borderline
        known = self.errors.get(name)
        if known is None or error.bounds > known.bounds:
            self.errors[name] = error
        if error.accepted > 1.0:
            self._is_near, self._has_missed = error.is_borderline, True
            unit = ROUNDOFF[error.format]
            mismatch = _mismatch(actual, expected, name, error_ratios(actual, expected, unit), unit)
            raise CheckFailed(_describe(mismatch), mismatch)

    def note_difference(self, pairs: Iterable[tuple[Output, Expected]], of: str) -> None:
        """Note by how much passing outputs differ at most from what ``of`` gives."""
        largest = 0.0
        for output, expected in pairs:
            if isinstance(output, Tensor) and output.values.shape == expected.values.shape:
                apart = np.abs(output.values.astype(np.float64) - expected.values)
                largest = max(largest, float(apart.max(initial=0.0)))
        self.note(f"largest difference from {of}: {largest:.1g}")

    def exactly(self, output: Output, expected: Floats, name: str) -> None:
        """Require the same shape and the same values."""
        self.close(output, Expected(np.asarray(expected, np.float64)), name)

    def shape(self, output: Output, shape: tuple[int, ...], name: str) -> Tensor:
        """Require an array of that shape, and return it."""
        return tensor(output, name, shape)

    def finite(self, output: Output, name: str) -> Tensor:
        """Require an array with values, none of them NaN or infinite, and return it."""
        array = tensor(output, name)
        if not array.values.size:
            raise CheckFailed(f"{name} has shape {shape_name(array.values.shape)}, and no values")
        if count := int((~np.isfinite(array.values)).sum()):
            raise CheckFailed(
                f"{name} has {count} of {array.values.size} values that are NaN or infinite"
            )
        return array

    def require(self, condition: object, message: str) -> None:
        """Require a condition; ``message`` is the fact when it does not hold."""
        if not condition:
            raise CheckFailed(message)

    def within(self, error: float, limit: float, message: str) -> None:
        """Require an error below a limit that right answers keep far away from.

        ``message`` is the fact when it is not.
        """
        near = bool(BORDERLINE_FROM["f8"] < error / limit <= BORDERLINE_TO)
        self._is_near |= near
        if not error < limit:
            self._is_near, self._has_missed = near, True
            raise CheckFailed(message)

    def note(self, text: str) -> None:
        """Add a note to a passing answer."""
        if text not in self._notes:
            self._notes.append(text)
