"""What a card shows of a wrong answer: the smallest failing calls, and pictures of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
import numpy as np

from harness import pictures
from harness.calls import Output, Tensor
from harness.candidate import Recorded, is_array
from harness.compare import COARSER, NAMES, Expected, error_ratios, held_to, roundoff_of
from harness.pictures import Judged
from harness.results import (
    Array,
    CheckResult,
    Evidence,
    Outcome,
    Picture,
    Rearrangement,
    Visibility,
    number,
)
from harness.spec import Spec

#: An array with more values is no picture any more.
VALUES_CAP = 256

#: The check that changes one position after another.
PERTURBATION = "causal-perturbation"


def gather(
    spec: Spec, recording: Sequence[Recorded], checks: Sequence[CheckResult]
) -> tuple[Evidence, ...]:
    """Return the most telling failing call of each entry point, from checks that failed.

    The central checks come first, then the others in the spec's order; of one check's calls, the
    smallest. Where a mask leaks and that call does not show it, one that does is added.
    """
    order = telling(spec, checks)
    found: list[Evidence] = []
    for point in spec.entry_points:
        calls = [one for one in recording if one.point is point]
        groups = [[one for one in calls if one.check == check] for check in order]
        shown = next(filter(None, (smallest_failure(spec, group) for group in groups)), None)
        if shown is not None:
            found.append(_with_curves(spec, calls, shown))
            leak = next(filter(None, (_leak(spec, group) for group in groups)), None)
            if leak is not None and not _shows_mask(shown):
                found.append(leak)
    return tuple(sorted(found, key=lambda one: order.index(one.check)))


def telling(spec: Spec, checks: Sequence[CheckResult]) -> list[str]:
    """Return the ids of the failed checks, the most telling first: those that others earn with."""
    central = {check.earns_with for check in spec.checks}
    failed = [check.id for check in checks if check.outcome is Outcome.FAILED]
    return sorted(failed, key=lambda check: check not in central)


def smallest_failure(spec: Spec, recording: Sequence[Recorded]) -> Evidence | None:
    """Return the smallest recorded call whose outputs are not the reference's, or None."""
    for recorded, expected in _calls(spec, recording):
        outputs = judged(recorded, expected)
        if any(one is None or one.wrong.any() for one in outputs):
            return _evidence(recorded, expected, [one for one in outputs if one is not None])
    return None


def _calls(
    spec: Spec, recording: Sequence[Recorded]
) -> Iterator[tuple[Recorded, tuple[Expected, ...]]]:
    """Yield the calls that answered, the smallest first, with what they should have given."""
    expect = spec.expect(spec.reference)
    for recorded in sorted(recording, key=lambda one: one.size):
        if recorded.answer.raised is None and recorded.size <= 4 * VALUES_CAP:
            yield recorded, expectation(expect, recorded)


def expectation(expect: Any, recorded: Recorded) -> tuple[Expected, ...]:
    """Return what a call should have given, or () where that cannot be said."""
    arguments = [
        argument.values if isinstance(argument, Tensor) else argument for argument in recorded.given
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


def judged(recorded: Recorded, expected: tuple[Expected, ...]) -> list[Judged | None]:
    """Judge every value of each output; None for an output of another kind or shape."""
    precision = _precision(recorded)
    probabilities = {"weights"}
    if any(pictures.is_identity(values) for _, values in _arrays(recorded)):
        probabilities.add("out")  # the aggregate of the identity is the weights
    found: list[Judged | None] = []
    for output, right, name in paired(recorded, expected):
        if isinstance(output, (bool, int, float)):
            output = Tensor(np.asarray(output, np.float64), "f8")
        if not isinstance(output, Tensor) or output.values.shape != right.values.shape:
            found.append(None)
            continue
        ratios = error_ratios(output, right, COARSER[held_to(output.dtype, precision)])
        # Also where any value is right, it must be a number.
        wrong = (ratios > 1) | ~np.isfinite(output.values)
        found.append(
            Judged(
                name=name,
                actual=output.values.astype(np.float64),
                expected=right,
                wrong=wrong,
                probabilities=name in probabilities,
            )
        )
    return found


def _leak(spec: Spec, recording: Sequence[Recorded]) -> Evidence | None:
    """Return a call in which a mask lets something through or keeps something out, or None."""
    for recorded, expected in _calls(spec, recording):
        outputs = [one for one in judged(recorded, expected) if one is not None]
        seen = pictures.visibility(outputs, _is_masked(recorded))
        if seen is not None:
            return _evidence(recorded, expected, outputs)
    return _influence(spec, [one for one in recording if one.check == PERTURBATION])


def _influence(spec: Spec, recording: Sequence[Recorded]) -> Evidence | None:
    """Return what changing one position after another moved, when that is not as it should be."""
    expect = spec.expect(spec.reference)
    calls = []
    for recorded in recording:
        outputs = judged(recorded, expectation(expect, recorded))
        if not outputs or outputs[0] is None or outputs[0].wrong.ndim < 2:
            return None
        arguments = [values for _, values in _arrays(recorded)]
        calls.append((arguments, outputs[0].actual, outputs[0].expected.values))
    seen = pictures.influence(calls)
    if seen is None:
        return None
    return Evidence(check=recording[0].check, call=_spelled(recording[0]), pictures=(seen,))


def _with_curves(spec: Spec, recording: Sequence[Recorded], shown: Evidence) -> Evidence:
    """Add the curves of a longer call, where an entry point makes a table of lengths alone."""
    for recorded, expected in _calls(spec, [one for one in recording if not _arrays(one)]):
        for one in judged(recorded, expected):
            drawn = pictures.curves(_spelled(recorded), one) if one is not None else None
            if drawn is not None:
                return msgspec.structs.replace(shown, pictures=(drawn, *shown.pictures))
    return shown


def _shows_mask(evidence: Evidence) -> bool:
    return any(isinstance(picture, Visibility) for picture in evidence.pictures)


def _is_masked(recorded: Recorded) -> bool:
    return any(values.dtype.kind in "bi" for _, values in _arrays(recorded))


def _evidence(
    recorded: Recorded, expected: tuple[Expected, ...], outputs: Sequence[Judged]
) -> Evidence:
    outs = list(paired(recorded, expected))
    return Evidence(
        check=recorded.check,
        call=_spelled(recorded),
        inputs={
            name: _array(value)
            for name, value in zip(recorded.point.parameters, recorded.arguments, strict=False)
            if is_array(value)
        },
        expected={name: _array(right.values) for _, right, name in outs},
        actual={name: _array(out) for out, _, name in outs if isinstance(out, Tensor)},
        wrong={one.name: _places(one) for one in outputs},
        pictures=tuple(_pictures(recorded, expected, outputs)),
    )


def _places(one: Judged) -> tuple[int, ...]:
    return tuple(int(place) for place in np.flatnonzero(one.wrong) if place < VALUES_CAP)


def _pictures(
    recorded: Recorded, expected: tuple[Expected, ...], outputs: Sequence[Judged]
) -> Iterable[Picture]:
    """Yield the pictures of one call."""
    moved = _rearranged(recorded, expected)
    if moved is not None:
        yield moved
        return
    seen = pictures.visibility(outputs, _is_masked(recorded))
    if not (seen and seen.found_by == "mask"):
        warm = pictures.heat(outputs)
        if warm is not None:
            yield warm
    if seen is not None:
        yield seen


def _rearranged(recorded: Recorded, expected: tuple[Expected, ...]) -> Rearrangement | None:
    arrays, outs = _arrays(recorded), list(paired(recorded, expected))
    if len(arrays) != 1 or len(outs) != 1:
        return None
    (source, given), (output, right, name) = arrays[0], outs[0]
    if not isinstance(output, Tensor):
        return None
    return pictures.rearrangement(source, given, name, right.values, output.values)


def _arrays(recorded: Recorded) -> list[tuple[str, pictures.Floats]]:
    return [
        (name, value.values if isinstance(value, Tensor) else np.asarray(value))
        for name, value in zip(recorded.point.parameters, recorded.arguments, strict=False)
        if is_array(value)
    ]


def _precision(recorded: Recorded) -> str:
    """Return the wire dtype of the coarsest argument, or float32 where all are finer."""
    arrays = [argument for argument in recorded.arguments if is_array(argument)]
    dtypes = [(a if isinstance(a, Tensor) else Tensor.of(np.asarray(a))).dtype for a in arrays]
    return max((*dtypes, "f4"), key=roundoff_of)


def _spelled(recorded: Recorded) -> str:
    arguments = zip(recorded.point.parameters, recorded.arguments, strict=False)
    return f"{recorded.point.name}({', '.join(_argument(*pair) for pair in arguments)})"


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
