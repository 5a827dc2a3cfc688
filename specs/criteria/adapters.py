"""Attention as criteria know it, through a class that projects its inputs.

With projections that only pick features, a layer computes attention of exactly the Q, K and V
that a criterion has drawn: products with 0 and 1 do not round. The criteria of ``specs.criteria``
then hold for it as they stand, and its weights, which it need not return, are read as the output
for V = I.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from harness import ClassProxy, Layer, Tensor
from specs.criteria.cases import AttentionCases, Case, Shape
from specs.reference.heads import merge_heads, split_heads

Array = Any
Arguments = tuple[Any, ...]


def _values(array: Array) -> Array:
    return array.values if isinstance(array, Tensor) else array


def _dtype(array: Array) -> str:
    return array.dtype if isinstance(array, Tensor) else Tensor.of(array).dtype


def _like(values: Array, array: Array) -> Array:
    """Wrap values under the wire dtype and the layout in memory of an argument."""
    if not isinstance(array, Tensor):
        return np.ascontiguousarray(values)
    return Tensor(np.ascontiguousarray(values), array.dtype, array.transposed)


def _widened(array: Array, width: int) -> Array:
    """Add columns of zeros, up to a width."""
    none = np.zeros((*array.shape[:-1], width - array.shape[-1]), array.dtype)
    return np.concatenate([array, none], -1)


def _columns(output: Any, start: int, stop: int) -> Any:
    """Return some columns of an output; what has no columns is returned as it is."""
    if not isinstance(output, Tensor) or output.values.ndim == 0:
        return output
    return Tensor(output.values[..., start:stop], output.dtype)


def _apart(output: Any, heads: int) -> Any:
    """Split the heads of a (B, T, D) output; anything else is returned as it is."""
    if not isinstance(output, Tensor) or output.values.ndim != 3:
        return output
    if output.values.shape[-1] % heads:
        return output
    return Tensor(split_heads(output.values, heads), output.dtype)


class Attended(Mapping[str, Any]):
    """Output and weights of one call, in the terms of the criteria."""

    def __init__(self, out: Any, weights: Any, arguments_after: Arguments = ()) -> None:
        self._out = out
        self._weights = weights  #: a function: they may cost another call
        self.arguments_after = arguments_after

    def __getitem__(self, name: str) -> Any:
        return self._out if name == "out" else self._weights()

    def __iter__(self) -> Iterator[str]:
        return iter(("out", "weights"))

    def __len__(self) -> int:
        return 2


class _Prefix:
    """What an iterator gives, by place: it goes on no further than it is asked to."""

    def __init__(self, values: Iterator[Any]) -> None:
        self._values = values
        self._seen: list[Any] = []

    def at(self, place: int) -> Any:
        self._seen += itertools.islice(self._values, place + 1 - len(self._seen))
        return self._seen[place]


class _Attention:
    """What both kinds of layer have in common: objects are made once for each size and dtype."""

    def __init__(self, proxy: ClassProxy) -> None:
        self._proxy = proxy
        self._layers: dict[tuple[Any, ...], Layer] = {}

    def __call__(self, *arguments: Array) -> Attended:
        return next(self.each([arguments]))

    def each(self, calls: Iterable[Arguments]) -> Iterator[Attended]:
        """Attend to every (query, key, value) or (query, key, value, mask), in one exchange."""
        given = list(calls)
        returned = self._proxy.each([self._call(arguments) for arguments in given])
        return self._all_attended(given, (one["out"] for one in returned))

    def echoing(self, *arguments: Array) -> Attended:
        """Attend once, and see the arguments as they are afterwards."""
        layer, given = self._call(arguments)
        returned = self._proxy.echoing(layer, *given)
        after = self._after(arguments, returned.arguments_after)
        return next(self._all_attended([arguments], [returned["out"]], after))

    def gradients(self, arguments: Arguments, cotangents: Arguments) -> list[Any]:
        """Return the gradients of Σ out·cotangent for Q, K and V."""
        layer, given = self._call(arguments)
        cotangent = self._cotangent(arguments, cotangents[0])
        slope = self._proxy.gradients(layer, given, cotangent)
        return self._gradients(arguments, list(slope.arguments))

    def _make(self, dtype: str, made_of: tuple[int, ...], weights: Mapping[str, Array]) -> Layer:
        """Return the object of that size, its projections set to pick features."""
        if (dtype, made_of) not in self._layers:
            layer = self._proxy.make(*made_of)
            layer.set(weights)
            if dtype != "f4":
                layer.cast(dtype)
            self._layers[dtype, made_of] = layer
        return self._layers[dtype, made_of]

    def _call(self, arguments: Arguments) -> tuple[Layer, Arguments]:
        raise NotImplementedError

    def _all_attended(
        self, calls: Sequence[Arguments], outs: Iterable[Any], after: Arguments = ()
    ) -> Iterator[Attended]:
        raise NotImplementedError

    def _after(self, arguments: Arguments, after: Arguments) -> Arguments:
        raise NotImplementedError

    def _cotangent(self, arguments: Arguments, cotangent: Array) -> Array:
        raise NotImplementedError

    def _gradients(self, arguments: Arguments, found: list[Any]) -> list[Any]:
        raise NotImplementedError


class OneHeadAttention(_Attention):
    """Attention through a layer with ``(x_q, x_kv, blocked)`` and one head.

    Features are [query or key | value | I]: W_Q and W_K pick the first part, W_V the others, so
    that the last columns of the output are the weights.
    """

    def _call(self, arguments: Arguments) -> tuple[Layer, Arguments]:
        query, key, value, *mask = arguments
        q, k, v = (_values(array) for array in (query, key, value))
        keys, width, values = k.shape[-2], q.shape[-1], v.shape[-1] + k.shape[-2]
        made_of, (features, projected, aggregated) = self._sizes(width, values)
        index = np.broadcast_to(np.eye(keys, dtype=k.dtype), (*k.shape[:-1], keys))
        x_q = _like(_widened(q, features), query)
        x_kv = _like(_widened(np.concatenate([k, v, index], -1), features), key)
        picks = np.eye(features)
        first = _widened(picks[:, :width], projected)
        weights = {
            # Columns of zeros make d_k larger than the width, and the scale has to follow.
            "W_Q": first * (projected / width) ** 0.5,
            "W_K": first,
            "W_V": _widened(picks[:, width : width + values], aggregated),
            "b_Q": np.zeros(projected),
            "b_K": np.zeros(projected),
            "b_V": np.zeros(aggregated),
        }
        layer = self._make(_dtype(query), made_of, weights)
        blocked = [np.ascontiguousarray(~(_values(m) != 0)) for m in mask if m is not None]
        return layer, (x_q, x_kv, *blocked)

    def _sizes(self, width: int, values: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return what to ask for, and the sizes of what is made: some classes have fewer."""
        features, widest = width + values, max(width, values)
        for asked in ((features, width, values), (features, widest, widest)):
            made = self._proxy.offered(asked)
            if all(has >= wants for has, wants in zip(made, (features, width, values))):
                break
        return asked, made

    def _all_attended(
        self, calls: Sequence[Arguments], outs: Iterable[Any], after: Arguments = ()
    ) -> Iterator[Attended]:
        for (_, key, value, *_), out in zip(calls, outs, strict=True):
            values, keys = _values(value).shape[-1], _values(key).shape[-2]
            read_weights = functools.partial(_columns, out, values, values + keys)
            yield Attended(_columns(out, 0, values), read_weights, after)

    def _after(self, arguments: Arguments, after: Arguments) -> Arguments:
        width, values = (_values(arguments[place]).shape[-1] for place in (0, 2))
        x_q, x_kv, *blocked = after
        masks = [Tensor(~(m.values != 0), "b1") if isinstance(m, Tensor) else m for m in blocked]
        key, value = _columns(x_kv, 0, width), _columns(x_kv, width, width + values)
        return _columns(x_q, 0, width), key, value, *masks

    def _cotangent(self, arguments: Arguments, cotangent: Array) -> Array:
        width, values = _values(arguments[0]).shape[-1], _values(arguments[2]).shape[-1]
        _, made = self._sizes(width, values + _values(arguments[1]).shape[-2])
        return _widened(cotangent, made[-1])

    def _gradients(self, arguments: Arguments, found: list[Any]) -> list[Any]:
        width, values = (_values(arguments[place]).shape[-1] for place in (0, 2))
        x_q, x_kv = found
        key, value = _columns(x_kv, 0, width), _columns(x_kv, width, width + values)
        return [_columns(x_q, 0, width), key, value]


class MultiHeadAttention(_Attention):
    """Attention of (B, H, T, d) inputs through a layer with ``(q, k, v, mask)``.

    All projections are the identity, so that head i of the inputs is the i-th slice of the
    features on the way in and out. Weights are read d keys at a time when they are first asked
    for, those of all calls that were made together in one exchange.
    """

    def _call(self, arguments: Arguments) -> tuple[Layer, Arguments]:
        query, key, value, *mask = arguments
        _, heads, _, width = _values(query).shape
        total = heads * width
        weights = {f"W_{name}": np.eye(total) for name in "QKVO"}
        weights |= {f"b_{name}": np.zeros(total) for name in "QKVO"}
        layer = self._make(_dtype(query), (total, heads), weights)
        merged = (_like(merge_heads(_values(a)), a) for a in (query, key, value))
        return layer, (*merged, *(m for m in mask if m is not None))

    def _all_attended(
        self, calls: Sequence[Arguments], outs: Iterable[Any], after: Arguments = ()
    ) -> Iterator[Attended]:
        weights = _Prefix(self._weights(calls))
        for place, ((query, *_), out) in enumerate(zip(calls, outs, strict=True)):
            read_weights = functools.partial(weights.at, place)
            yield Attended(_apart(out, _values(query).shape[1]), read_weights, after)

    def _weights(self, calls: Sequence[Arguments]) -> Iterator[Any]:
        """Yield the weights of calls: their outputs where values pick the keys one by one."""
        parts = [list(_parts_of_weights(arguments)) for arguments in calls]
        returned = self.each(itertools.chain.from_iterable(parts))
        for (query, key, *_), own in zip(calls, parts, strict=True):
            outs = [one["out"] for one in itertools.islice(returned, len(own))]
            shape, keys = _values(query).shape, _values(key).shape[-2]
            odd = [o for o in outs if not isinstance(o, Tensor) or o.values.shape != shape]
            if odd:
                yield odd[0]
                continue
            whole = np.concatenate([out.values for out in outs], -1)[..., :keys]
            yield Tensor(whole, outs[0].dtype)

    def _after(self, arguments: Arguments, after: Arguments) -> Arguments:
        heads = _values(arguments[0]).shape[1]
        return *(_apart(array, heads) for array in after[:3]), *after[3:]

    def _cotangent(self, arguments: Arguments, cotangent: Array) -> Array:
        return np.ascontiguousarray(merge_heads(cotangent))

    def _gradients(self, arguments: Arguments, found: list[Any]) -> list[Any]:
        heads = _values(arguments[0]).shape[1]
        return [_apart(array, heads) for array in found]


@dataclasses.dataclass(frozen=True, slots=True)
class HeadCases(AttentionCases):
    """Cases of attention in heads: a layer's values are as wide as its queries."""

    @property
    def different(self) -> Shape:
        """All lengths differ."""
        return Shape((2, *self.heads), queries=5, keys=7, width=8, values=8)

    def of(self, shape: Shape) -> Case:
        """Draw an unmasked case, with values of the queries' width."""
        # A dataclass with slots is made anew, so that super() does not know it.
        return AttentionCases.of(self, dataclasses.replace(shape, values=shape.width))


def _parts_of_weights(arguments: Arguments) -> Iterator[Arguments]:
    """Yield a call of attention once for every d keys, its values picking these."""
    query, key, value, *mask = arguments
    batch, heads, keys, width = _values(key).shape
    for start in range(0, keys, width):
        index = np.eye(keys, width, -start, dtype=_values(value).dtype)
        chosen = np.broadcast_to(index, (batch, heads, keys, width))
        yield (query, key, _like(chosen, value), *mask)
