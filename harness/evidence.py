"""What a card shows of a wrong answer: the smallest recorded call that fails."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from harness.calls import Output, Tensor
from harness.candidate import Recorded, is_array
from harness.compare import NAMES, Expected, compare, roundoff_of
from harness.errors import CheckFailed
from harness.results import Array, Evidence, number
from harness.spec import Spec

#: An array with more values is no picture any more.
VALUES_CAP = 256


def smallest_failure(spec: Spec, recording: Sequence[Recorded]) -> Evidence | None:
    """Return the smallest recorded call whose outputs are not the reference's, or None."""
    expect = spec.expect(spec.reference)
    for recorded in sorted(recording, key=lambda one: one.size):
        if recorded.answer.raised is not None or recorded.size > 4 * VALUES_CAP:
            continue
        expected = expectation(expect, recorded)
        precision = _precision(recorded)
        if any(differs(*pair, precision) for pair in paired(recorded, expected)):
            return _evidence(recorded, expected)
    return None


def expectation(expect: Any, recorded: Recorded) -> tuple[Expected, ...]:
    """Return what a call should have given, or () where that cannot be said."""
    arguments = [
        argument.values if isinstance(argument, Tensor) else argument
        for argument in recorded.given
    ]
    try:
        return tuple(expect[recorded.point.name](*arguments))
    except Exception:  # a flawed part, or an argument that the reference refuses as well
        return ()


def paired(
    recorded: Recorded, expected: tuple[Expected, ...]
) -> Iterator[tuple[Output, Expected, str]]:
    """Yield each output of a call with what is expected and its name, as far as there are both."""
    yield from zip(recorded.answer.outs, expected, recorded.point.returns, strict=False)


def differs(output: Output, expected: Expected, name: str, precision: str = "f4") -> bool:
    """Tell whether an output is wrong, for inputs of that precision."""
    try:
        compare(output, expected, name, precision)
    except CheckFailed:
        return True
    return False


def _precision(recorded: Recorded) -> str:
    """Return the wire dtype of the coarsest argument, or float32 where all are finer."""
    arrays = [argument for argument in recorded.arguments if is_array(argument)]
    dtypes = [(a if isinstance(a, Tensor) else Tensor.of(np.asarray(a))).dtype for a in arrays]
    return max((*dtypes, "f4"), key=roundoff_of)


def _evidence(recorded: Recorded, expected: tuple[Expected, ...]) -> Evidence:
    inputs = zip(recorded.point.parameters, recorded.arguments, strict=False)
    outs = list(paired(recorded, expected))
    return Evidence(
        check=recorded.check,
        call=f"{recorded.point.name}({', '.join(_argument(*pair) for pair in inputs)})",
        inputs={
            name: _array(value)
            for name, value in zip(recorded.point.parameters, recorded.arguments, strict=False)
            if is_array(value)
        },
        expected={name: _array(right.values) for _, right, name in outs},
        actual={name: _array(out) for out, _, name in outs if isinstance(out, Tensor)},
    )


def _argument(name: str, value: object) -> str:
    return name if is_array(value) else f"{name}={value!r}"


def _array(value: object) -> Array:
    tensor = value if isinstance(value, Tensor) else Tensor.of(np.asarray(value))
    values = tensor.values.reshape(-1)[:VALUES_CAP]
    return Array(
        dtype=NAMES.get(tensor.dtype, tensor.dtype),
        shape=tensor.values.shape,
        values=tuple(number(entry) for entry in values),
    )
