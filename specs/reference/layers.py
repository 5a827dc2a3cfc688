"""Attention between learned projections: the reference of the assignments that are classes.

The parts do what a layer does around the five stages: they take the inputs, project them, split
them into heads and merge these, and project the result. They work on numpy arrays and torch
tensors alike. Weights have the reference's names: ``W_Q`` is inputs × outputs, ``b_Q`` its bias.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from harness import ClassProxy, Draw, Expected, Layer, NotOffered, Projection, State
from specs.reference import heads, rounding, stages
from specs.reference.stages import Trace

Array = Any
Weights = Mapping[str, Array]
Arguments = tuple[Array, ...]


def take(query: Array, key: Array, value: Array) -> tuple[Array, Array, Array]:
    """Take the inputs as they are: Q from the first, K and V from where the brief says."""
    return query, key, value


def project(x: Array, weights: Weights, name: str) -> Array:
    """x W + b."""
    return x @ weights[f"W_{name}"] + weights[f"b_{name}"]


def project_out(x: Array, weights: Weights) -> Array:
    """Mix the heads: x W_O + b_O."""
    return project(x, weights, "O")


def keep_query(query: Array, x: Array) -> Array:
    """Nothing more happens to the projected queries."""
    return query


def keep_output(out: Array, query: Array) -> Array:
    """Nothing more happens to the output: residuals and norms are the block's affair."""
    return out


def fit_heads(width: int, count: int) -> int:
    """Return how many features the heads have together: all, or there is no such layer."""
    if width % count:
        raise ValueError(f"width is {width}, expected a multiple of {count} heads")
    return width


def accept(mask: Array) -> Array:
    """Take a mask in which True means "may attend"."""
    return mask


def invert(mask: Array) -> Array:
    """Take a mask in which True means "blocked"."""
    return mask == 0


#: What every layer has besides the stages.
AROUND = MappingProxyType(
    {
        "take": take,
        "project": project,
        "adapt_query": keep_query,
        "accept_mask": accept,
    }
)
ONE_HEAD = MappingProxyType({**stages.REFERENCE, **AROUND, "accept_mask": invert})
MULTI_HEAD = MappingProxyType(
    {
        **stages.REFERENCE,
        **AROUND,
        "split_heads": heads.split_heads,
        "merge_heads": heads.merge_heads,
        "project_out": project_out,
        "finish_layer": keep_output,
        "fit_heads": fit_heads,
    }
)


def of_linears(linears: Mapping[str, Any]) -> Weights:
    """Return the weights of torch's Linears by the reference's names."""
    weights = {f"W_{name}": linear.weight.T for name, linear in linears.items()}
    return weights | {f"b_{name}": linear.bias for name, linear in linears.items()}


def projected(parts: Any, weights: Weights, *sources: Array) -> list[Array]:
    """Return Q, K and V of three sources."""
    taken = parts["take"](*sources)
    query, key, value = (
        parts["project"](x, weights, name) for x, name in zip(taken, "QKV", strict=True)
    )
    return [parts["adapt_query"](query, taken[0]), key, value]


def one_head(
    parts: Any, weights: Weights, x_q: Array, x_kv: Array, mask: Array | None = None
) -> tuple[Array, Trace]:
    """Attention of one head over two sources; returns out, and the trace of its stages."""
    query, key, value = projected(parts, weights, x_q, x_kv, x_kv)
    allowed = None if mask is None else parts["accept_mask"](mask)
    trace = stages.attention(parts, query, key, value, allowed)
    return trace.out, trace


def multi_head(
    parts: Any,
    weights: Weights,
    count: int,
    query: Array,
    key: Array,
    value: Array,
    mask: Array | None = None,
) -> tuple[Array, Trace]:
    """Attention of ``count`` heads; returns out, and the trace of its stages."""
    apart = [parts["split_heads"](x, count) for x in projected(parts, weights, query, key, value)]
    allowed = None if mask is None else parts["accept_mask"](mask)
    trace = stages.attention(parts, *apart, allowed)
    out = parts["project_out"](parts["merge_heads"](trace.out), weights)
    return parts["finish_layer"](out, query), trace


def reachable(trace: Trace, out: Array) -> Array | None:
    """Tell which rows of the output have an allowed key in every head, or None: all have."""
    if trace.allowed is None or trace.allowed.any(-1).all():
        return None
    rows = np.broadcast_to(trace.allowed, trace.weights.shape).any(-1)
    if rows.ndim > 2:
        rows = rows.all(tuple(range(1, rows.ndim - 1)))
    return np.broadcast_to(rows[..., None], out.shape)


def judged(out: Array, trace: Trace, bound: Callable[[], Array]) -> Expected:
    """Return out with its bound, only rows with an allowed key compared."""

    def roundoffs() -> Array:
        try:
            return np.broadcast_to(bound(), out.shape)
        except (ValueError, IndexError):  # a flaw gave other shapes: bound it by its largest value
            return 1e3 * np.abs(out).max(initial=1.0)

    expected = Expected(out, roundoffs)
    try:
        rows = reachable(trace, out)
    except (ValueError, IndexError):
        rows = None
    return expected if rows is None else expected.where(rows)


def exact(state: State, arguments: Sequence[Array | None]) -> tuple[Weights, list[Any]]:
    """Return weights and arguments in float64, these as copies that a flaw may write on."""
    weights = {name: np.asarray(value, np.float64) for name, value in state.weights.items()}
    given = [
        np.array(a, np.float64 if a.dtype.kind == "f" else a.dtype) if hasattr(a, "dtype") else a
        for a in arguments
    ]
    return weights, given


def overflows(trace: Trace, arguments: Sequence[Array | None]) -> bool:
    """Tell whether what overflows depends on the precision, which is then the inputs' own."""
    single = arguments[0] is not None and arguments[0].dtype == np.float32
    return single and bool(np.abs(trace.logits).max(initial=0) > stages.OVERFLOW)


def in_single(state: State, arguments: Sequence[Array | None]) -> tuple[Weights, list[Any]]:
    """Return weights and arguments in float32, as copies that a flaw may write on."""
    weights = {name: np.array(value, np.float32) for name, value in state.weights.items()}
    return weights, [a if a is None else np.array(a) for a in arguments]


def expected_one_head(parts: Any, state: State, *arguments: Array) -> tuple[Expected, ...]:
    """Return what a single-head layer in this state gives, with its rounding bound."""
    weights, (x_q, x_kv, *mask) = exact(state, arguments)

    def bound() -> Array:
        projected = [
            rounding.linear(x, 0.0, weights, name)
            for x, name in ((x_q, "Q"), (x_kv, "K"), (x_kv, "V"))
        ]
        return rounding.bound(rounding.attention(trace, *projected))

    out, trace = one_head(parts, weights, x_q.copy("K"), x_kv.copy("K"), *mask)
    if overflows(trace, arguments):
        single, given = in_single(state, arguments)
        out = one_head(parts, single, *given)[0].astype(np.float64)
    return (judged(out, trace, bound),)


def multi_head_variances(
    weights: Weights, count: int, trace: Trace, sources: Sequence[Array], of_x: Array | float
) -> Array:
    """Return the variances of a multi-head layer's rounding errors, those of its sources given."""
    apart = [
        heads.split_heads(rounding.linear(x, of_x, weights, name), count)
        for x, name in zip(sources, "QKV", strict=True)
    ]
    merged = heads.merge_heads(rounding.attention(trace, *apart))
    return rounding.linear(heads.merge_heads(trace.out), merged, weights, "O")


def expected_multi_head(parts: Any, state: State, *arguments: Array) -> tuple[Expected, ...]:
    """Return what a multi-head layer in this state gives, with its rounding bound."""
    weights, (query, key, value, *mask) = exact(state, arguments)
    _, count = state.made_of
    sources = [query.copy("K"), key.copy("K"), value.copy("K")]
    out, trace = multi_head(parts, weights, count, *sources, *mask)
    if overflows(trace, arguments):
        single, given = in_single(state, arguments)
        out = multi_head(parts, single, count, *given)[0].astype(np.float64)

    def bound() -> Array:
        sources = (query, key, value)
        return rounding.bound(multi_head_variances(weights, count, trace, sources, 0.0))

    return (judged(out, trace, bound),)


def attention_projections(width: int, count: int) -> tuple[Projection, ...]:
    """Return the four projections of a multi-head layer.

    A single head may do without the last: V's projection can hold the product of both.
    """
    into = (("h", count), ("d", width // count))
    three = [Projection(name, (("e", width),), into, "attention") for name in "QKV"]
    return (*three, Projection("O", into, (("o", width),), optional=count == 1))


class Layers:
    """Draws objects of a class and calls of them, and knows what the reference makes of these.

    A spec says what its constructor takes (``sizes``: the smallest first, then one in which all
    lengths differ, then a square one) and what forward takes (``inputs``).
    """

    sizes: tuple[tuple[Any, ...], ...]
    #: (parts, state, *arguments) -> outputs
    expected_of: Callable[..., tuple[Expected, ...]]
    #: (weights, made_of, *arguments) -> out, on any library's arrays
    forward: Callable[..., Array]
    #: parts of the reference, and of its other right forms
    forms: tuple[Mapping[str, Callable[..., Any]], ...]

    def __init__(self, proxy: ClassProxy) -> None:
        self.proxy = proxy

    @property
    def reference(self) -> Mapping[str, Callable[..., Any]]:
        """The parts of the right form that the submission computes."""
        return self.forms[self.proxy.form]

    def inputs(self, draw: Draw, made_of: tuple[Any, ...], masked: bool) -> Arguments:
        """Draw the arguments of one call."""
        raise NotImplementedError

    def given(self, draw: Draw, made_of: tuple[Any, ...], *, masked: bool = False) -> Arguments:
        """Draw the arguments of one call that the class can make."""
        return self.proxy.fitted(self.inputs(draw, made_of, masked))

    def attended(self, layer: Layer, x: Array) -> Array:
        """Return what a layer over one text attends to."""
        return x

    def scores(self, layer: Layer, x: Array) -> Array:
        """Return the scaled scores of every head over one text: (B, H, T, T)."""
        weights, (x,) = exact(layer.state(), (x,))
        y = self.attended(layer, x)
        return multi_head(MULTI_HEAD, weights, layer.made_of[1], y, y, y)[1].logits

    def other_sources(self, x: Array) -> Arguments:
        """Return what forward takes besides the queries' source for self-attention."""
        raise NotImplementedError

    def drawn(
        self, draw: Draw, masked: tuple[bool, ...] = (False,), smallest: int = 0
    ) -> list[tuple[Layer, Arguments]]:
        """Draw objects with weights of real size, and a call of each, masked or not."""
        return list(self.one_by_one(draw, masked, smallest))

    def one_by_one(
        self, draw: Draw, masked: tuple[bool, ...] = (False,), smallest: int = 0
    ) -> Iterator[tuple[Layer, Arguments]]:
        """Draw the same for a check that may end before the last: making an object costs most.

        Raises:
            NotOffered: the class cannot be made in any of the sizes.
        """
        absent: NotOffered | None = None
        drawn = 0
        for kind in masked:
            for made_of in self.sizes[smallest:]:
                try:
                    layer = self.proxy.drawn(draw, *made_of)
                except NotOffered as error:
                    absent = error
                    continue
                drawn += 1
                yield layer, self.given(draw, made_of, masked=kind)
        if absent is not None and not drawn:
            raise absent

    def cubes(self, draw: Draw) -> list[tuple[Layer, Arguments]]:
        """Draw calls with as many tokens and features per head as heads, where there are some."""
        return []

    def expected(self, layer: Layer, arguments: Arguments) -> Expected:
        """Return what the object should give."""
        return type(self).expected_of(self.reference, layer.state(), *arguments)[0]

    def own(self, out: Array, layer: Layer, arguments: Arguments) -> Expected:
        """Return what the object itself gave, as what another call of it must agree with."""
        reference = self.expected(layer, arguments)
        values = np.asarray(out, np.float64)
        return Expected(values, 2 * reference.roundoffs, reference.compared)

    def gradients(
        self, layer: Layer, arguments: Arguments, cotangent: Array
    ) -> tuple[list[Array], dict[str, Array]]:
        """Return the gradients of Σ out·cotangent by torch's autograd, in float64."""
        import torch

        weights = {
            name: torch.tensor(np.asarray(value, np.float64), requires_grad=True)
            for name, value in layer.weights.items()
        }
        given = [
            torch.tensor(a.astype(np.float64) if a.dtype.kind == "f" else a) for a in arguments
        ]
        leaves = [tensor.requires_grad_() for tensor in given if tensor.is_floating_point()]
        out = type(self).forward(self.reference, weights, layer.made_of, *given)
        total = (out * torch.tensor(cotangent)).sum()
        everything = [*leaves, *weights.values()]
        found = torch.autograd.grad(total, everything, allow_unused=True)
        arrays = [None if gradient is None else gradient.numpy() for gradient in found]
        return arrays[: len(leaves)], dict(zip(weights, arrays[len(leaves) :], strict=True))
