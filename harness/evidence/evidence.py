"""What a card shows of a wrong answer: the smallest failing calls, and pictures of them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Any

import msgspec
import numpy as np

from harness.candidate import Recorded, is_array
from harness.evidence import influence, pictures
from harness.evidence.influence import Change
from harness.evidence.pictures import Judged
from harness.protocol import Output, Tensor
from harness.results import (
    Array,
    CheckResult,
    Diagnosis,
    Evidence,
    Outcome,
    Picture,
    Rearrangement,
    Stage,
    Visibility,
    number,
)
from harness.spec import COARSER, NAMES, Expected, Spec, error_ratios, roundoff_of, tolerance_dtype

#: An array with more values is no picture any more.
VALUES_CAP = 256

#: The check that changes one position after another.
PERTURBATION = "causal-perturbation"
#: The check that changes one slice of the features after another.
SPLIT = "head-split"


def gather(
    spec: Spec,
    recording: Sequence[Recorded],
    checks: Sequence[CheckResult],
    diagnosis: Sequence[Diagnosis] = (),
) -> tuple[Evidence, ...]:
    """Return the most telling failing call of each entry point, from checks that failed.

    That is the smallest call of a central check, one that others earn with, and else the smallest
    of all. Where a mask leaks or heads mix and that call does not show it, one that does is added,
    unless a diagnosis says that it is right: with other stages broken, weights may look like leaks.
    """
    stages = {stage for found in diagnosis for stage in (*found.stages, found.stage)}
    masks, heads = (not stages or stage in stages for stage in (Stage.MASK, Stage.HEADS))
    order = [check.id for check in checks if check.outcome is Outcome.FAILED]
    central = {check.earns_with for check in spec.checks}
    gathered: list[Evidence] = []
    for point in spec.entry_points:
        calls = [one for one in recording if one.point is point and one.check in order]
        with np.errstate(all="ignore"):  # a wrong answer may hold anything
            gathered += _of_point(spec, calls, central, masks)
            if heads:
                gathered += _slices(spec, [one for one in calls if one.check == SPLIT])
    return tuple(sorted(gathered, key=lambda one: order.index(one.check)))


def _of_point(
    spec: Spec, calls: Sequence[Recorded], central: Container[str], masks: bool
) -> Iterator[Evidence]:
    """Yield what there is to show of one entry point."""
    telling = [one for one in calls if one.check in central]
    shown = smallest_failure(spec, telling, masks) or smallest_failure(spec, calls, masks)
    if shown is None:
        return
    yield _with_curves(spec, calls, shown)
    if masks and not _shows_mask(shown) and (leak := _leak(spec, calls)):
        yield leak


def smallest_failure(
    spec: Spec, recording: Sequence[Recorded], masks: bool = True
) -> Evidence | None:
    """Return the smallest recorded call whose outputs are not the reference's, or None.

    ``masks``: show what a mask lets through.
    """
    for recorded, expected in _calls(spec, recording):
        outputs = judged(recorded, expected)
        if any(one is None or one.wrong.any() for one in outputs):
            known = [one for one in outputs if one is not None]
            return _evidence(recorded, expected, known, masks=masks, arrays=spec.arrays)
    return None


def _calls(
    spec: Spec, recording: Sequence[Recorded]
) -> Iterator[tuple[Recorded, tuple[Expected, ...]]]:
    """Yield the calls that answered, the smallest first, with what they should have given.

    Of calls whose size is of the same order, those of an earlier check come first. Tables made
    of lengths alone need four rows to show a pattern.
    """
    expect = spec.expect(spec.reference)
    checks = list(dict.fromkeys(one.check for one in recording))

    def smallness(one: Recorded) -> tuple[bool, int, int, bool, int]:
        lengths = [argument for argument in one.arguments if isinstance(argument, int)]
        patternless = not one.size and max(lengths, default=4) < 4
        order, hidden = one.size.bit_length() // 2, not _weights(one)
        return patternless, order, checks.index(one.check), hidden, one.size

    for recorded in sorted(recording, key=smallness):
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
    weights = _weights(recorded)
    found: list[Judged | None] = []
    for output, right, name in paired(recorded, expected):
        actual = _tensor(output)
        if actual is None or actual.values.shape != right.values.shape:
            found.append(None)
            continue
        ratios = error_ratios(actual, right, COARSER[tolerance_dtype(actual.dtype, precision)])
        # Also where any value is right, it must be a number.
        wrong = (ratios > 1) | ~np.isfinite(actual.values)
        found.append(
            Judged(
                name=name,
                actual=actual.values.astype(np.float64),
                expected=right,
                wrong=wrong,
                probabilities=name == weights and _sums_to_one(right),
            )
        )
    return found


def _weights(recorded: Recorded) -> str:
    """Return the name of the output that shows the weights, or nothing.

    Where none is returned, the aggregate of the identity is one.
    """
    if "weights" in recorded.point.returns:
        return "weights"
    identity = any(pictures.is_identity(values) for _, values in _arrays(recorded))
    return "out" if identity and "out" in recorded.point.returns else ""


def _sums_to_one(expected: Expected) -> bool:
    """Tell whether rows are probabilities, or zeros where no key is allowed."""
    sums = expected.values.sum(-1) if expected.values.ndim else np.zeros(())
    return bool((np.isclose(sums, 1) | (sums == 0)).all())


def _tensor(output: Output) -> Tensor | None:
    if isinstance(output, (bool, int, float)):
        return Tensor(np.asarray(output, np.float64), "f8")
    return output if isinstance(output, Tensor) else None


def _leak(spec: Spec, recording: Sequence[Recorded]) -> Evidence | None:
    """Return a call in which a mask lets something through or keeps something out, or None."""
    for recorded, expected in _calls(spec, recording):
        outputs = [one for one in judged(recorded, expected) if one is not None]
        seen = pictures.visibility(outputs, _is_masked(recorded))
        if seen is not None:
            return _evidence(recorded, expected, outputs, masks=True, arrays=spec.arrays)
    return _influence(spec, [one for one in recording if one.check == PERTURBATION])


def _influence(spec: Spec, recording: Sequence[Recorded]) -> Evidence | None:
    """Return what changing one position after another moved, when that is not as it should be."""
    calls = _changes(spec, recording)
    seen = influence.of_positions(calls)
    if seen is None:
        return None
    first = recording[0]
    return Evidence(check=first.check, call=_spelled(first), made=_made(first), pictures=(seen,))


def _slices(spec: Spec, recording: Sequence[Recorded]) -> Iterator[Evidence]:
    """Yield what changing one slice of the features moved, where it is not as it should be."""
    calls = _changes(spec, recording)
    names = [name for name, _ in _arrays(recording[0])] if calls else []
    seen = influence.of_slices(calls, names)
    if seen is not None:
        first = recording[0]
        yield Evidence(check=SPLIT, call=_spelled(first), made=_made(first), pictures=(seen,))


def _changes(spec: Spec, recording: Sequence[Recorded]) -> list[Change]:
    """Return calls that are to be compared with the first, or none where one cannot be."""
    expect = spec.expect(spec.reference)
    calls = []
    for recorded in recording:
        outputs = judged(recorded, expectation(expect, recorded))
        if not outputs or outputs[0] is None or outputs[0].wrong.ndim < 2:
            return []
        arguments = [values for _, values in _arrays(recorded)]
        calls.append(Change(arguments, outputs[0].actual, outputs[0].expected.values))
    return calls


def _with_curves(spec: Spec, recording: Sequence[Recorded], shown: Evidence) -> Evidence:
    """Add the curves of a longer call, where an entry point makes a table of lengths alone."""
    for recorded, expected in _calls(spec, [one for one in recording if not _arrays(one)]):
        for one in judged(recorded, expected):
            drawn = pictures.curves(_spelled(recorded), one) if one is not None else None
            if drawn is not None:
                return msgspec.structs.replace(shown, pictures=(drawn,))
    return shown


def _shows_mask(evidence: Evidence) -> bool:
    return any(isinstance(picture, Visibility) for picture in evidence.pictures)


def _is_masked(recorded: Recorded) -> bool:
    return any(values.dtype.kind in "bi" for _, values in _arrays(recorded))


def _evidence(
    recorded: Recorded,
    expected: tuple[Expected, ...],
    outputs: Sequence[Judged],
    *,
    masks: bool,
    arrays: str,
) -> Evidence:
    outs = list(paired(recorded, expected))
    return Evidence(
        check=recorded.check,
        call=_spelled(recorded),
        made=_made(recorded),
        arrays=arrays,
        inputs={
            name: _array(value)
            for name, value in zip(recorded.point.parameters, recorded.arguments, strict=False)
            if is_array(value)
        },
        expected={name: _array(right.values) for _, right, name in outs},
        actual={name: _array(out) for out, _, name in outs if isinstance(out, Tensor)},
        wrong={one.name: _places(one) for one in outputs},
        pictures=tuple(_pictures(recorded, expected, outputs, masks)),
    )


def _places(one: Judged) -> tuple[int, ...]:
    return tuple(int(place) for place in np.flatnonzero(one.wrong) if place < VALUES_CAP)


def _pictures(
    recorded: Recorded, expected: tuple[Expected, ...], outputs: Sequence[Judged], masks: bool
) -> Iterable[Picture]:
    """Yield the pictures of one call."""
    moved = _rearranged(recorded, expected)
    if moved is not None:
        yield moved
        return
    seen = pictures.visibility(outputs, masks and _is_masked(recorded))
    if seen is not None:
        yield seen
    if not (seen and seen.found_by == "mask"):
        warm = pictures.heat(outputs)
        if warm is not None:
            yield warm


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
    """Spell a call as it is written in Python; an object is called ``model``."""
    arguments = zip(recorded.point.parameters, recorded.arguments, strict=False)
    name = recorded.point.name if recorded.on is None else "model"
    return f"{name}({', '.join(_argument(*pair) for pair in arguments)})"


def _made(recorded: Recorded) -> str:
    """Spell how the object was made that was called, or nothing for a function."""
    if recorded.on is None:
        return ""
    return f"{recorded.point.name}({', '.join(map(repr, recorded.on.made_of))})"


def _argument(name: str, value: object) -> str:
    return name if is_array(value) else repr(value)  # by place: candidates name them as they like


def _array(value: object) -> Array:
    tensor = value if isinstance(value, Tensor) else Tensor.of(np.asarray(value))
    values = tensor.values.reshape(-1)[:VALUES_CAP]
    return Array(
        dtype=NAMES.get(tensor.dtype, tensor.dtype),
        shape=tensor.values.shape,
        values=tuple(number(entry) for entry in values),
    )
