"""Causal attention with a cache: the reference for decoding step by step.

A step takes the new positions and what is held of the earlier ones. Queries are aligned to the
end: the last of them sees everything, the one before it one key less.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from harness import Expected, State
from specs.reference import layers, rounding, stages
from specs.reference.layers import MULTI_HEAD, Weights
from specs.reference.stages import Trace, library

Array = Any
Held = tuple[Array, Array]


def recall(memory: dict[str, Any], cache: Held | None) -> Held | None:
    """Take the cache that was handed in: a prompt that starts without one starts clean."""
    return cache


def context(
    parts: Any, weights: Weights, count: int, cache: Any, x: Array
) -> tuple[Array, Array, Any]:
    """Return all keys and values, and what to hold: project the new ones only, and append them."""
    key, value = (parts["split_heads"](parts["project"](x, weights, name), count) for name in "KV")
    if cache is not None:
        key, value = join(cache[0], key), join(cache[1], value)
    return key, value, (key, value)


def see(queries: int, keys: int, first: bool) -> np.ndarray[Any, Any]:
    """Let query i of the new ones see the earlier keys and 0 … i of its own: aligned to the end."""
    return np.tri(queries, keys, keys - queries, dtype=bool)


def join(earlier: Array, later: Array) -> Array:
    """Append (B, H, T, d) along T."""
    if library(later) is np:
        return np.concatenate([earlier, later], axis=2)
    return library(later).cat([earlier, later], 2)


REFERENCE = MappingProxyType({**MULTI_HEAD, "recall": recall, "context": context, "see": see})


def step(
    parts: Any, weights: Weights, count: int, memory: dict[str, Any], x: Array, cache: Any = None
) -> tuple[Array, Any, Trace]:
    """Attend with the new positions ``x``; returns out, what to hold, and the trace.

    ``memory`` is what the object itself keeps from call to call, which nothing right reads.
    """
    past = parts["recall"](memory, cache)
    query = parts["split_heads"](parts["project"](x, weights, "Q"), count)
    key, value, held = parts["context"](parts, weights, count, past, x)
    memory["held"] = held
    allowed: Array = parts["see"](query.shape[2], key.shape[2], past is None)
    if library(x) is not np:
        allowed = library(x).from_numpy(allowed)
    trace = stages.attention(parts, query, key, value, allowed)
    return parts["project_out"](parts["merge_heads"](trace.out), weights), held, trace


def expected_step(parts: Any, state: State, *arguments: Array) -> tuple[Expected, ...]:
    """Return what a layer gives that was fed as the state says, with its rounding bound."""
    weights, (x, *_) = layers.exact(state, arguments)
    _, count = state.made_of
    prompt = (state.before or ((),))[-1]
    out, trace = _fed(parts, weights, state, x, np.float64)
    if layers.overflows(trace, arguments):
        single, (given, *_) = layers.in_single(state, arguments)
        out = _fed(parts, single, state, given, np.float32)[0].astype(np.float64)

    def bound() -> Array:
        whole = np.concatenate([*(np.asarray(chunk, np.float64) for chunk in prompt), x], 1)
        sources = (x, whole, whole)
        return rounding.bound(layers.multi_head_variances(weights, count, trace, sources, 0.0))

    return (layers.judged(out, trace, bound),)


def _fed(parts: Any, weights: Weights, state: State, x: Array, format: type) -> tuple[Array, Trace]:
    """Return out of a step after what the state was fed, in a format, and the trace."""
    memory: dict[str, Any] = {}
    *earlier, prompt = state.before or ((),)
    for one in earlier:
        with contextlib.suppress(Exception):  # what an earlier prompt raised is over
            _feed(parts, weights, state, memory, one, format)
    cache = _feed(parts, weights, state, memory, prompt, format)
    out, _, trace = step(parts, weights, state.made_of[1], memory, x.copy(), cache)
    return out, trace


def _feed(
    parts: Any, weights: Weights, state: State, memory: dict[str, Any], prompt: Any, format: type
) -> Any:
    cache = None
    for chunk in prompt:
        x = np.array(chunk, format)
        _, cache, _ = step(parts, weights, state.made_of[1], memory, x, cache)
    return cache


def forward(parts: Any, weights: Mapping[str, Array], made_of: tuple[int, int], x: Array) -> Array:
    """Return out of a first call, on any library's arrays."""
    return step(parts, weights, made_of[1], {}, x)[0]
