"""Attention in blocks of keys: the reference, and the interface that other criteria see.

The online softmax of Milakov & Gimelshein 2018 as FlashAttention uses it: each row keeps the
largest score so far, the sum of the exponentials and the weighted sum of V; a new block with a
larger score rescales both sums. The stages score, scale, mask and aggregate are those of
``specs.reference.stages``, one block at a time, so that their flaws are flaws here, too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from harness import Expected
from specs.reference import stages

Array = Any


def blocks(keys: int, size: int) -> list[slice]:
    """The keys in blocks; the last one may be shorter."""
    return [slice(begin, min(begin + size, keys)) for begin in range(0, keys, size)]


def columns(mask: Array, block: slice) -> Array:
    """The mask of a block of keys."""
    return mask[..., block]


def peak(before: Array, logits: Array) -> Array:
    """The largest score of each row so far; -inf while everything is blocked."""
    return np.maximum(before, logits.max(-1, keepdims=True))


def exponentials(logits: Array, peak: Array) -> Array:
    """exp(logits - peak); 0 for a row in which everything is blocked so far."""
    return np.exp(logits - np.where(np.isfinite(peak), peak, 0.0))


def decay(before: Array, after: Array) -> Array:
    """By how much the sums so far shrink when the peak rises."""
    return np.exp(before - np.where(np.isfinite(after), after, 0.0))


def divide(out: Array, total: Array) -> Array:
    """Σ exp · V / Σ exp; 0 for a row without an allowed key."""
    return out / np.where(total == 0, 1.0, total)


REFERENCE = MappingProxyType(
    {
        **{name: stages.REFERENCE[name] for name in ("prepare", "read_mask", "score", "scale")},
        **{name: stages.REFERENCE[name] for name in ("mask", "mask_weights", "aggregate")},
        "blocks": blocks,
        "columns": columns,
        "peak": peak,
        "exponentials": exponentials,
        "decay_sum": decay,
        "decay_out": decay,
        "divide": divide,
        "pad": lambda key, value, size: (key, value),
        "hold": lambda query, key: None,
    }
)


def attention(
    parts: Any, query: Array, key: Array, value: Array, size: int, mask: Array | None = None
) -> Array:
    """Run through the keys block by block: (…, Tq, d_v)."""
    query, key, value = parts["prepare"](query, key, value)
    held = parts["hold"](query, key)
    keys = key.shape[-2]
    key, value = parts["pad"](key, value, size)
    top = np.full((*query.shape[:-1], 1), -np.inf)
    total, out = np.zeros_like(top), None
    for block in parts["blocks"](key.shape[-2], size):
        logits = parts["scale"](parts["score"](query, key[..., block, :]), query.shape[-1])
        allowed = np.bool_(True)
        if mask is not None:
            inside = slice(block.start, min(block.stop, keys))
            allowed = parts["read_mask"](parts["columns"](mask, inside), logits)
            logits = parts["mask"](logits, allowed)
        before, top = top, parts["peak"](top, logits)
        weights = parts["exponentials"](logits, top)
        total = total * parts["decay_sum"](before, top) + weights.sum(-1, keepdims=True)
        mixed = parts["aggregate"](
            parts["mask_weights"](weights, allowed), query, key[..., block, :], value[..., block, :]
        )
        out = mixed if out is None else out * parts["decay_out"](before, top) + mixed
    if out is None:
        out = np.zeros((*query.shape[:-1], value.shape[-1]))
    del held
    return parts["divide"](out, total)


def expected(
    parts: Any, query: Array, key: Array, value: Array, size: int, mask: Array | None = None
) -> tuple[Expected]:
    """Return what attention with these parts gives, with the bound of plain attention.

    That bound pays for the rescaling: its exponents add up to no more than the range of the
    scores, and there are no more blocks than keys.
    """
    exact = [np.asarray(array, np.float64) for array in (query, key, value)]
    out, _ = stages.expected(stages.REFERENCE, *exact, mask)
    with np.errstate(all="ignore"):
        values = attention(parts, *exact, size, mask)
    if values.shape != out.values.shape:
        return (Expected(values, 1e3),)

    def roundoffs() -> Array:
        # A flaw's value may be larger than the right one, and its roundoffs then are as well.
        return np.fmax(out.roundoffs, 2 * (key.shape[-2] + 8) * np.abs(values))

    return (Expected(values, roundoffs, out.compared),)


def size_for(queries: int, keys: int) -> int:
    """Return a block size that divides both lengths, and is smaller than the number of keys."""
    shared = math.gcd(queries, keys)
    sizes = (size for size in range(shared, 0, -1) if shared % size == 0 and size < keys)
    return next(sizes, 1)


class InBlocks(Mapping[str, Any]):
    """The outputs of one call; the weights are read through V = I, by another call."""

    def __init__(self, attention: WithoutBlocks, arguments: tuple[Any, ...], returned: Any) -> None:
        self._attention = attention
        self._arguments = arguments
        self._returned = returned

    def __getitem__(self, name: str) -> Any:
        if name != "weights":
            return self._returned[name]
        query, key, value, *mask = self._arguments
        keys = key.shape[-2]
        identity = np.broadcast_to(np.eye(keys, dtype=value.dtype), (*key.shape[:-1], keys))
        return self._attention(query, key, np.ascontiguousarray(identity), *mask)["out"]

    def __iter__(self) -> Iterator[str]:
        return iter(("out", "weights"))

    def __len__(self) -> int:
        return 2


class WithoutBlocks:
    """Attention as other criteria call it, (Q, K, V, mask): the block size divides the lengths."""

    def __init__(self, attention: Any) -> None:
        self._attention = attention

    def __call__(self, *arguments: Any) -> InBlocks:
        """Call it once."""
        return next(self.each([arguments]))

    def each(self, calls: Iterable[tuple[Any, ...]]) -> Iterator[InBlocks]:
        """Make independent calls in one exchange."""
        given = list(calls)
        returned = self._attention.each(_with_size(*arguments) for arguments in given)
        return (InBlocks(self, *pair) for pair in zip(given, returned, strict=True))


def _with_size(query: Array, key: Array, value: Array, *mask: Array) -> tuple[Any, ...]:
    return query, key, value, size_for(query.shape[-2], key.shape[-2]), *mask


def roles(points: Mapping[str, Any]) -> Mapping[str, Any]:
    """Offer plain attention besides the entry point itself."""
    return {**points, "attention": WithoutBlocks(points["attention_in_blocks"])}
