"""How a submission spells what the brief asks: names, order, mask, layout, outputs.

A ``Convention`` translates calls from the brief's terms into the submission's, and answers back.
It never changes what is computed: arguments are renamed, reordered or transposed, a mask is
written the other way round, outputs are picked by position.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar

import numpy as np

from harness.calls import Answer, Call, Gradients, Output, Step, Tensor, Value

Floats = np.ndarray[Any, Any]

#: Blocks a score in every format but float16, and needs no guard for a row without a key.
ADDED: Final = -1e9


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Convention:
    """How one entry point is called, and what comes back."""

    name: str  #: what the submission calls it
    #: brief position of each of the submission's parameters, None for one of its own
    order: tuple[int | None, ...]
    mask_at: int | None = None  #: brief position of the mask
    mask: str = "keep"  #: what True means: keep, block; or additive
    layout: str = "batch"  #: batch, heads, time-first, single
    returns: tuple[int | None, ...] = ()  #: position of each of the brief's outputs
    variant: str = ""  #: which order of columns an output has, "" for the brief's
    #: brief position of V where the weights are not returned: they are the output for V = I
    identity_at: int | None = None

    def arguments(self, given: Sequence[Value]) -> tuple[Value, ...]:
        """Translate arguments in the brief's order into the submission's."""
        values = list(given)
        if self.mask_at is not None and len(values) > self.mask_at:
            values[self.mask_at] = MASKS[self.mask](values[self.mask_at])
        values = [LAYOUTS[self.layout].given(value) for value in values]
        placed = [
            values[place] if place is not None and place < len(values) else None
            for place in self.order
        ]
        # A trailing parameter that the call does not give keeps its default.
        used = [n for n, place in enumerate(self.order) if place is not None and place < len(given)]
        return tuple(placed[: max(used, default=-1) + 1])

    def outputs(self, answer: Answer, variants: Mapping[str, Callable[[Floats], Floats]]) -> Answer:
        """Translate an answer into the brief's outputs."""
        if answer.raised is not None:
            return answer
        outs = answer.outs
        if self.returns:
            found = [outs[p] if p is not None and p < len(outs) else None for p in self.returns]
            while found and found[-1] is None:
                found.pop()
            outs = tuple(found)
        outs = tuple(LAYOUTS[self.layout].returned(out, n) for n, out in enumerate(outs))
        if self.variant:
            outs = tuple(_mapped(out, variants[self.variant]) for out in outs)
        return dataclasses.replace(answer, outs=outs)


@dataclasses.dataclass(frozen=True, slots=True)
class Layout:
    """Where the batch and the positions are: how arguments go in, and how outputs come out."""

    words: str
    given: Callable[[Value], Value]
    returned: Callable[[Output, int], Output]  #: output and its position in the brief


def _as_is(value: Any, position: int = 0) -> Any:
    return value


_Some = TypeVar("_Some", bound=Value | Output)


def _mapped(value: _Some, change: Callable[[Floats], Floats]) -> _Some:
    """Change the values of an array; anything else stays as it is."""
    if isinstance(value, Tensor):
        changed = np.ascontiguousarray(change(value.values))
        return Tensor(changed, value.dtype, value.transposed)  # type: ignore[return-value]
    if isinstance(value, np.ndarray):
        return np.ascontiguousarray(change(value))  # type: ignore[return-value]
    return value


def _with_heads(value: Value) -> Value:
    return _mapped(value, lambda array: array[:, None] if array.ndim == 3 else array)


def _without_heads(output: Output, position: int) -> Output:
    def drop(array: Floats) -> Floats:
        return array[:, 0] if array.ndim == 4 and array.shape[1] == 1 else array

    return _mapped(output, drop)


def _time_first(value: Value) -> Value:
    """Swap batch and time of Q, K and V; a mask has no features and stays."""

    def swap(array: Floats) -> Floats:
        return array.swapaxes(0, 1) if array.ndim == 3 and array.dtype.kind == "f" else array

    return _mapped(value, swap)


def _batch_first(output: Output, position: int) -> Output:
    """Swap batch and time of the output; the weights, its second, are (B, Tq, Tk) already."""
    if position:
        return output
    return _mapped(output, lambda array: array.swapaxes(0, 1) if array.ndim == 3 else array)


LAYOUTS: Final[Mapping[str, Layout]] = {
    "batch": Layout("(B, T, d)", _as_is, _as_is),
    "heads": Layout("(B, H, T, d)", _with_heads, _without_heads),
    "time-first": Layout("(T, B, d)", _time_first, _batch_first),
    "single": Layout("(T, d), one item at a time", _as_is, _as_is),
}


def _blocking(value: Value) -> Value:
    return _mapped(value, lambda mask: mask == 0 if mask.dtype.kind in "bi" else mask)


def _additive(value: Value) -> Value:
    return _mapped(
        value, lambda mask: np.where(mask, 0.0, ADDED) if mask.dtype.kind in "bi" else mask
    )


MASKS: Final[Mapping[str, Callable[[Value], Value]]] = {
    "keep": _as_is,
    "block": _blocking,
    "additive": lambda value: _retyped(_additive(value)),
}

#: What a mask means, in words.
MEANINGS: Final = {
    "keep": "True may attend",
    "block": "True blocks",
    "additive": "added to the scores",
}


def _retyped(value: Value) -> Value:
    """Give a mask that was made of booleans the dtype of what it holds now."""
    if isinstance(value, Tensor) and value.values.dtype.kind == "f":
        return Tensor.of(value.values)
    return value


class AdaptingSession:
    """Puts calls in the submission's own terms, and answers in the brief's.

    One call of the brief may be several of the submission's: one per item, where it takes no
    batch, and one more for V = I, where it does not return its weights.
    """

    def __init__(
        self,
        session: Any,
        conventions: Mapping[str, Convention],
        variants: Mapping[str, Mapping[str, Callable[[Floats], Floats]]],
    ) -> None:
        self._session = session
        self._conventions = conventions
        self._variants = variants

    def exchange(self, steps: Sequence[Step]) -> list[Answer]:
        """Translate the steps, exchange them in one frame, and translate the answers."""
        plans = [self._plan(step) for step in steps]
        answers = iter(self._session.exchange([sent for plan in plans for sent in plan]))
        return [
            self._answer(step, [next(answers) for _ in plan])
            for step, plan in zip(steps, plans, strict=True)
        ]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    def _plan(self, step: Step) -> list[Step]:
        """Return what is sent for a step."""
        convention = self._convention(step)
        if convention is None or not isinstance(step, (Call, Gradients)):
            return [step]
        if isinstance(step, Gradients):
            places = tuple(convention.order.index(place) for place in step.of)
            sent = convention.arguments(step.arguments)
            return [dataclasses.replace(step, name=convention.name, arguments=sent, of=places)]
        return [
            dataclasses.replace(step, name=convention.name, arguments=convention.arguments(given))
            for arguments in _versions(convention, step.arguments)
            for given in _items(convention, arguments)
        ]

    def _answer(self, step: Step, answers: list[Answer]) -> Answer:
        convention = self._convention(step)
        if convention is None or not isinstance(step, Call):
            return answers[0]
        for answer in answers:
            if answer.raised is not None:
                return answer
        variants = self._variants.get(step.name, {})
        translated = [convention.outputs(answer, variants) for answer in answers]
        versions = len(list(_versions(convention, step.arguments)))
        each = len(translated) // versions
        parts = [translated[n * each : (n + 1) * each] for n in range(versions)]
        if convention.layout == "single":
            parts = [[_stacked(part, step.arguments)] for part in parts]
        first, *others = (part[0] for part in parts)
        if others:
            first = dataclasses.replace(first, outs=(first.outs[:1] + others[0].outs[:1]))
        if first.echo:
            first = dataclasses.replace(first, echo=_echo(convention, step, first.echo))
        return first

    def _convention(self, step: Step) -> Convention | None:
        return self._conventions.get(getattr(step, "name", ""))


def _versions(
    convention: Convention, arguments: tuple[Value, ...]
) -> Iterator[tuple[Value, ...]]:
    """Yield the arguments, and again with V = I where that is how the weights are read."""
    yield arguments
    place = convention.identity_at
    if place is not None:
        value = _mapped(
            arguments[place],
            lambda array: np.broadcast_to(
                np.eye(array.shape[-2], dtype=array.dtype),
                (*array.shape[:-1], array.shape[-2]),
            ),
        )
        yield (*arguments[:place], value, *arguments[place + 1 :])


def _items(convention: Convention, arguments: tuple[Value, ...]) -> list[tuple[Value, ...]]:
    """Return the arguments of each item, for a submission that takes no batch."""
    if convention.layout != "single":
        return [arguments]
    batch = next((len(_array(a)) for a in arguments if _array(a).ndim == 3), 1)

    def item(value: Value, number: int) -> Value:
        return _mapped(value, lambda array: array[number] if array.ndim == 3 else array)

    return [tuple(item(value, number) for value in arguments) for number in range(batch)]


def _array(value: Value) -> Floats:
    array = value.values if isinstance(value, Tensor) else value
    return array if isinstance(array, np.ndarray) else np.empty(0)


def _stacked(answers: list[Answer], arguments: tuple[Value, ...]) -> Answer:
    """Put the answers of single items together, and the arguments as they are after the calls."""
    outs = zip(*(answer.outs for answer in answers), strict=False)
    echoes = zip(*(answer.echo for answer in answers), strict=False)
    return dataclasses.replace(
        answers[0],
        outs=tuple(_together(column) for column in outs),
        echo=tuple(
            _together(column) if _array(given).ndim == 3 else column[0]
            for given, column in zip(arguments, echoes, strict=False)
        ),
    )


def _together(outs: tuple[Output, ...]) -> Output:
    arrays = [out.values for out in outs if isinstance(out, Tensor)]
    if len(arrays) < len(outs) or len({array.shape for array in arrays}) > 1:
        return outs[0]
    return Tensor(np.stack(arrays), outs[0].dtype)  # type: ignore[union-attr]


def _echo(convention: Convention, step: Call, echo: tuple[Output, ...]) -> tuple[Output, ...]:
    """Return the arguments as the brief gave them, save those that the call changed."""
    sent = convention.arguments(step.arguments)
    after: list[Output] = [
        Tensor.of(value) if isinstance(value, np.ndarray) else value  # type: ignore[misc]
        for value in step.arguments
    ]
    for place, before, now in zip(convention.order, sent, echo, strict=False):
        if place is not None and place < len(after) and not _equal(before, now):
            after[place] = now
    return tuple(after)


def _equal(before: Value, after: Output) -> bool:
    array = before.values if isinstance(before, Tensor) else before
    if isinstance(array, np.ndarray):
        return isinstance(after, Tensor) and np.array_equal(array, after.values, equal_nan=True)
    return True
