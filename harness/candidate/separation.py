"""Queries, keys and values of a brief, for a class that takes one text, or two.

The rows of the text are made different unit vectors, those of queries apart from those of keys, and
each projection gets the rows that the layer in the brief would have projected: row i of W_Q is then
q_i W_Q, and projecting unit vector i picks it. The class so attends between any Q, K and V, however
it gets its inputs, and what it does wrong with them shows as it would.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from harness.candidate.weights import WeightLayout, projections_named_by
from harness.errors import NotOffered
from harness.protocol import Answer, Call, Output, Step, Tensor, Value
from harness.spec import EntryPoint

Floats = np.ndarray[Any, Any]


def values_of(array: Value) -> Floats:
    """Return the numbers of an array."""
    return array.values if isinstance(array, Tensor) else np.asarray(array)


def like(values: Floats, array: Value) -> Value:
    """Return numbers as an array of another's dtype, and layout in memory."""
    if isinstance(array, Tensor):
        return Tensor(values.astype(array.values.dtype), array.dtype, array.transposed)
    return values.astype(np.asarray(array).dtype)


@dataclasses.dataclass(frozen=True, slots=True)
class Sources:
    """Which arguments of the brief's call are sources, and of which projections."""

    places: Mapping[str, int]  #: "Q", "K", "V" -> place of its source
    mask: int  #: place of the mask

    @classmethod
    def of(cls, point: EntryPoint) -> Sources:
        """Read them from the brief's names; those of one text have no places."""
        found: dict[str, int] = {}
        for place, name in enumerate(point.parameters):
            for role in projections_named_by(name):
                found.setdefault(role, place)
        places = found if set("QKV") <= found.keys() else {}
        return cls(places, 1 + max(places.values(), default=0))

    @property
    def count(self) -> int:
        """How many the brief's call has."""
        return len(set(self.places.values())) or 1

    def alike(self, arguments: Sequence[Value], taken: int) -> bool:
        """Tell whether so many sources are enough for a call."""
        query, key, value = (arguments[self.places[name]] for name in "QKV")
        return key is value and (taken > 1 or query is key)


@dataclasses.dataclass(frozen=True, slots=True)
class SeparatedCall:
    """A part of a call: the weights that an object is given for it, and what it is called with."""

    weights: Mapping[str, Floats]
    arguments: tuple[Value, ...]
    items: slice


@dataclasses.dataclass(frozen=True, slots=True)
class Separation:
    """One call, its sources told apart by their features."""

    sources: Sources
    layout: WeightLayout
    weights: Mapping[str, Floats]  #: of the object, by the reference's names
    arguments: tuple[Value, ...]

    def parts(self) -> Iterator[SeparatedCall]:
        """Yield the calls that it becomes: one if the layer is wide enough, else one per item.

        Raises:
            NotOffered: the class has no projection of its own for each, or is too narrow.
        """
        if set("QKV") & {*self.layout.missing, *self.layout.shared} or self.layout.per_head:
            raise NotOffered("second source")
        items = len(self._given("Q"))
        width = len(self.weights["W_Q"])
        rows = self._given("Q").shape[1] + self._given("K").shape[1]
        if items * rows <= width:
            yield self._part(slice(0, items))
        elif rows <= width:
            for item in range(items):
                yield self._part(slice(item, item + 1))
        else:
            raise NotOffered("second source")

    @property
    def is_whole(self) -> bool:
        """Whether it is one call, of as many queries as keys."""
        items, queries, _ = self._given("Q").shape
        keys = self._given("K").shape[1]
        width = len(self.weights["W_Q"])
        return bool(queries == keys and items * (queries + keys) <= width)

    def _given(self, name: str) -> Floats:
        return values_of(self.arguments[self.sources.places[name]])

    def _part(self, items: slice) -> SeparatedCall:
        weights = dict(self.weights)
        queries, keys = (self._rows(name, items) for name in "QK")
        for name, rows in (("Q", queries), ("K", keys), ("V", keys)):
            matrix = np.zeros_like(np.asarray(self.weights[f"W_{name}"], np.float64))
            given = self._given(name)[items]
            matrix[rows] = given @ self.weights[f"W_{name}"]
            weights[f"W_{name}"] = matrix
        arguments = list(self.arguments)
        width = len(self.weights["W_Q"])
        units = {"Q": np.eye(width)[queries], "K": np.eye(width)[keys]}
        sent = {name: like(units[name], self.arguments[self.sources.places[name]]) for name in "QK"}
        for name in "QKV":
            arguments[self.sources.places[name]] = sent["Q" if name == "Q" else "K"]
        for place in range(self.sources.mask, len(arguments)):
            arguments[place] = _cut(arguments[place], items)
        return SeparatedCall(weights, tuple(arguments), items)

    def _rows(self, name: str, items: slice) -> Floats:
        """Return which unit vector each row of some items is, (B, T)."""
        queries, keys = (self._given(one).shape[1] for one in "QK")
        count = items.stop - items.start
        first = 0 if name == "Q" else count * queries
        length = queries if name == "Q" else keys
        return first + np.arange(count * length).reshape(count, length)

    def gradients(
        self, part: SeparatedCall, found: Mapping[str, Floats]
    ) -> tuple[dict[str, Floats], dict[str, Floats]]:
        """Return the gradients of a part's sources, and of the object's weights."""
        of_sources, of_weights = {}, dict(found)
        for name in "QKV":
            rows = self._rows("Q" if name == "Q" else "K", part.items)
            projected = found[f"W_{name}"][rows]
            of_sources[name] = projected @ self.weights[f"W_{name}"].T
            given = self._given(name)[part.items]
            of_weights[f"W_{name}"] = np.einsum("bte,bto->eo", given, projected)
        return of_sources, of_weights


def _cut(mask: Value, items: slice) -> Value:
    """Return some items of a mask; one without an axis of items, or with one of 1, serves all."""
    if mask is None or not isinstance(mask, (Tensor, np.ndarray)):
        return mask
    values = values_of(mask)
    if values.ndim < 3 or len(values) == 1:
        return mask
    return like(np.ascontiguousarray(values[items]), mask)


def fitted(
    sources: Sources, arguments: tuple[Value, ...], taken: int, *, masks: bool, causal: bool,
    point: EntryPoint,
) -> tuple[Value, ...]:  # fmt: skip
    """Return a drawn call as one that a class can make that takes fewer sources, or no mask.

    One text serves for all sources, a mask is as long as it, and what is inside is in the mask.
    """
    values, mask = list(arguments[: sources.mask]), None
    places = sources.places
    queries = values_of(values[places["Q"]]).shape[1]
    if taken < sources.count or causal:
        values[places["V"]] = values[places["K"]]
    if taken < 2 or causal:
        values[places["Q"]] = values[places["K"]]
    length = values_of(values[places["Q"]]).shape[1]
    if masks and len(arguments) > sources.mask:
        mask = values_of(arguments[sources.mask])
        if mask.shape[-2] == queries != length:
            mask = mask[..., np.arange(length) % queries, :]
    if causal:
        past = np.tri(length, dtype=bool)
        allowed = past
        if mask is not None:
            allowed = ((mask != 0) ^ point.blocking) & past | np.eye(length, dtype=bool)
        items = len(values_of(values[places["Q"]]))
        if allowed.ndim < 3:
            allowed = np.broadcast_to(allowed, (items, *(1,) * point.headed, length, length))
        mask = allowed ^ point.blocking
    return tuple(values) if mask is None else (*values, np.ascontiguousarray(mask))


def joined(step: Call, parts: Sequence[tuple[Step, Answer]]) -> Answer:
    """Join the answers of the parts of a call along the batch, as if it had been made whole."""
    first = parts[0][1]
    failed = next((answer for _, answer in parts if answer.raised is not None), None)
    if failed is not None:
        return failed
    outs = list(first.outs)
    for place, out in enumerate(outs):
        column = [answer.outs[place] for _, answer in parts if place < len(answer.outs)]
        arrays = [one.values for one in column if isinstance(one, Tensor) and one.values.ndim]
        if isinstance(out, Tensor) and len(arrays) == len(parts):
            with contextlib.suppress(ValueError):  # of other shapes, which a check will say
                outs[place] = Tensor(np.concatenate(arrays), out.dtype)
    return dataclasses.replace(first, outs=tuple(outs), echo=_echo(step, parts))


def _echo(step: Call, parts: Sequence[tuple[Step, Answer]]) -> tuple[Output, ...]:
    """Return the arguments as they were given, save those that a part changed."""
    after: list[Output] = [
        Tensor.of(value) if isinstance(value, np.ndarray) else value  # type: ignore[misc]
        for value in step.arguments
    ]
    for sent, answer in parts:
        assert isinstance(sent, Call)
        for place, (before, now) in enumerate(zip(sent.arguments, answer.echo, strict=False)):
            same = isinstance(now, Tensor) and np.array_equal(values_of(before), now.values)
            if isinstance(before, (Tensor, np.ndarray)) and not same:
                after[place] = now
    return tuple(after) if step.echo else ()
