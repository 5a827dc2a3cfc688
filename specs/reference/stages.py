"""The five stages of attention: score, scale, mask, normalise, aggregate.

``attention`` runs them in that order over whatever ``parts`` it is given. ``REFERENCE`` holds the
right parts; a flaw replaces some of them. The parts work on numpy arrays and torch tensors alike,
of any number of leading dimensions: query (…, Tq, d_k), key (…, Tk, d_k), value (…, Tk, d_v).

Masks inside are boolean and True means "may attend". The documents fill with -1e9 (a fully
masked row becomes uniform) or -inf (it becomes NaN), and PyTorch itself gives zeros from one
function and NaN from another: no criterion asks for more than a finite row. Here it is zero.
"""

from __future__ import annotations

import dataclasses
import functools
import sys
from types import MappingProxyType
from typing import Any

import numpy as np

from harness.spec import Expected

Array = Any  #: a numpy array or a torch tensor


def library(array: Array) -> Any:
    """Return the module that an array belongs to, torch only if somebody has imported it."""
    return sys.modules["torch"] if type(array).__module__.startswith("torch") else np


def swap(array: Array) -> Array:
    """Swap the last two axes."""
    return array.swapaxes(-1, -2)


def prepare(query: Array, key: Array, value: Array) -> tuple[Array, Array, Array]:
    """Take the inputs as they are."""
    return query, key, value


def read_mask(mask: Array, logits: Array) -> Array:
    """Turn the mask argument into "may attend"; 0 and False block."""
    return mask != 0


def score(query: Array, key: Array) -> Array:
    """Q Kᵀ: how well each query matches each key."""
    return query @ swap(key)


def scale(logits: Array, width: int) -> Array:
    """Divide by √d_k, so that the logits of N(0,1) inputs have variance 1."""
    return logits / width**0.5


def mask(logits: Array, allowed: Array) -> Array:
    """Set blocked logits to -inf, before the softmax."""
    return library(logits).where(allowed, logits, -float("inf"))


def large_fill(logits: Array, allowed: Array) -> Array:
    """Set blocked logits to -1e9, as the documents do: a row without an allowed key is uniform."""
    return library(logits).where(allowed, logits, -1e9)


def add_mask(logits: Array, mask: Array) -> Array:
    """Add a floating-point mask to the scaled scores."""
    return logits + mask


def is_additive(mask: Array) -> bool:
    """Tell whether a mask holds floating-point numbers, which are added, not compared with 0."""
    if library(mask) is np:
        return bool(mask.dtype.kind == "f")
    return bool(mask.is_floating_point())


def softmax(logits: Array, axis: int = -1) -> Array:
    """exp(x - max) / Σ; a row without a finite logit becomes zeros, not NaN."""
    xp = library(logits)
    peak = xp.amax(logits, axis, keepdims=True)
    peak = xp.where(xp.isfinite(peak), peak, 0.0)
    if xp is not np:
        peak = peak.detach()  # the maximum cancels, so it has no gradient of its own
    exponentials = xp.exp(logits - peak)
    total = exponentials.sum(axis, keepdims=True)
    return exponentials / (total + (total == 0))


def keep_logits(logits: Array) -> Array:
    """Without a mask, every key may be seen."""
    return logits


def show(weights: Array, logits: Array, masked: Array) -> Array:
    """Return the weights that V was multiplied by."""
    return weights


def keep_weights(weights: Array, allowed: Array | None) -> Array:
    """Nothing more happens to the weights: the mask came before the softmax."""
    return weights


def keep_scale(weights: Array, width: int) -> Array:
    """Nothing more happens to the weights: the scale came before the softmax."""
    return weights


def no_dropout(array: Array, probability: float, training: object) -> Array:
    """Drop nothing here."""
    return array


def aggregate(weights: Array, query: Array, key: Array, value: Array) -> Array:
    """Σ over the keys of weight · V."""
    return weights @ value


def finish(out: Array, weights: Array) -> tuple[Array, Array]:
    """Return what was computed."""
    return out, weights


REFERENCE = MappingProxyType(
    {
        "prepare": prepare,
        "read_mask": read_mask,
        "score": score,
        "scale": scale,
        "mask": mask,
        "without_mask": keep_logits,
        "add_mask": add_mask,
        "normalise": softmax,
        "mask_weights": keep_weights,
        "scale_weights": keep_scale,
        "drop_logits": no_dropout,
        "drop_weights": no_dropout,
        "drop_out": no_dropout,
        "aggregate": aggregate,
        "show": show,
        "finish": finish,
    }
)


#: Right answers that differ from the reference in rows without an allowed key.
STYLES = (MappingProxyType({"mask": large_fill}),)


@dataclasses.dataclass(frozen=True, slots=True)
class Trace:
    """What each stage of one attention gave."""

    query: Array
    key: Array
    value: Array
    raw: Array  #: logits as scored
    logits: Array  #: logits after the scale, before the mask
    allowed: Array | None
    mixed: Array  #: weights as they were multiplied by V
    weights: Array  #: weights as they are returned
    out: Array


def attention(
    parts: Any,
    query: Array,
    key: Array,
    value: Array,
    mask: Array | None = None,
    dropout: float = 0.0,
    training: object = False,
) -> Trace:
    """Run the five stages, with dropout where the parts have it."""
    query, key, value = parts["prepare"](query, key, value)
    width = query.shape[-1]
    raw = parts["score"](query, key)
    logits = masked = parts["scale"](raw, width)
    allowed = None
    if mask is None:
        masked = parts["without_mask"](logits)
    elif is_additive(mask):
        logits = masked = parts["add_mask"](logits, mask)
    else:
        allowed = parts["read_mask"](mask, logits)
        masked = parts["mask"](logits, allowed)
    weights = parts["normalise"](parts["drop_logits"](masked, dropout, training))
    if allowed is not None:
        weights = parts["mask_weights"](weights, allowed)
    weights = parts["scale_weights"](weights, width)
    mixed = parts["drop_weights"](weights, dropout, training)
    out = parts["aggregate"](mixed, query, key, value)
    shown = parts["show"](mixed, logits, masked)
    out, weights = parts["finish"](parts["drop_out"](out, dropout, training), shown)
    return Trace(query, key, value, raw, logits, allowed, mixed, weights, out)


def roundoffs(trace: Trace) -> tuple[Array, Array]:
    """Bound the rounding errors of (out, weights), in unit roundoffs, for any order of work.

    First order in u, with γ_n ≈ n·u (Higham, *Accuracy and Stability of Numerical Algorithms*,
    chapter 3), over the keys j:

    - a logit is a dot product of d products, scaled: (d + 8)·Σ|q||k|/√d. The 8 pays for the scale
      applied to the logits, to q, or as d^-1/4 to both, and for a mask added to the scores;
    - exp(s - m) has the relative error of its argument: subtracting the maximum, or the logarithm
      of the sum, costs up to 3·max|s|;
    - a weight e_j / Σe then is off by its own error and that of the sum: 2·argument + Tk + 8;
    - the output adds Tk products: Σ p_j |v_j| · (that + Tk + 2).

    The largest argument of a matrix of scores stands for all. One roundoff absolute is added to
    the weights, which are at most 1. Everything is doubled for the terms of
    second order. Cost of logits around 5,000 in float32: 3e-4, as measured.
    """
    width, keys = trace.query.shape[-1], trace.mixed.shape[-1]
    with np.errstate(all="ignore"):
        magnitude = np.abs(trace.query) @ swap(np.abs(trace.key))
        logits = np.abs(np.where(np.isfinite(trace.logits), trace.logits, 0))
        gain = logits.sum() / max(np.abs(trace.raw).sum(), 1e-300)
        matrix = {"axis": (-2, -1), "keepdims": True}
        # A flaw's scores may be larger than any score of these queries and keys.
        product = np.maximum(magnitude.max(**matrix), np.abs(trace.raw).max(**matrix))
        argument = (width + 8) * gain * product + 3 * logits.max(**matrix)
        relative = 2 * (2 * argument + keys + 8)
        out = np.abs(trace.mixed) @ np.abs(trace.value) * (relative + 2 * keys + 4)
    return out, np.abs(trace.weights) * relative + 1


#: exp overflows float32 from 88.7 on, and underflows below -103; float64 at 709.8 and -745.
OVERFLOW = 80.0


def expected(
    parts: Any, query: Array, key: Array, value: Array, mask: Array | None = None
) -> tuple[Expected, Expected]:
    """Return what attention with these parts gives, as (out, weights) with their bounds.

    Rows without an allowed key are not compared.
    """
    given = (query, key, value)
    trace = attention(parts, *(np.array(a, np.float64) for a in given), mask)
    computed = trace
    if query.dtype == np.float32 and np.abs(trace.logits).max() > OVERFLOW:
        # What overflows depends on the precision: then the work is done in the inputs' own.
        computed = attention(parts, *(np.array(array) for array in given), mask)
    bounds = _Bounds(trace)
    out = Expected(np.asarray(computed.out, np.float64), lambda: bounds.both[0])
    weights = Expected(np.asarray(computed.weights, np.float64), lambda: bounds.both[1])
    if trace.allowed is not None and not trace.allowed.any(-1).all():
        reachable = trace.allowed.any(-1, keepdims=True)
        out, weights = (_in_rows(part, reachable) for part in (out, weights))
    return out, weights


def _in_rows(part: Expected, reachable: Array) -> Expected:
    """Compare only the rows of queries with an allowed key; nothing if a flaw lost the rows."""
    shape = part.values.shape[:-1]
    if shape[-1:] != reachable.shape[-2:-1] or len(shape) < reachable.ndim - 1:
        return part.where(np.zeros((), bool))
    return part.where(np.broadcast_to(reachable, (*shape, 1)))


class _Bounds:
    """The roundoffs of (out, weights), computed when they are first asked for."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace

    @functools.cached_property
    def both(self) -> tuple[Array, Array]:
        """Those of a right trace; of a flaw's other shapes, by their largest value."""
        trace = self._trace
        try:
            out, weights = roundoffs(trace)
            if out.shape == trace.out.shape and weights.shape == trace.weights.shape:
                return out, weights
        except ValueError:
            pass
        return 1e3 * np.abs(trace.out).max(initial=1), 1e3 * np.abs(trace.weights).max(initial=1)


def gradients(trace: Trace, cotangent: Array) -> tuple[Expected, Expected, Expected]:
    """Return the gradients of Σ out·cotangent with respect to query, key and value.

    The backward pass of softmax(QKᵀ/√d)V by hand: dV = Wᵀ dO; dW = dO Vᵀ;
    dS = W ∘ (dW - rowsum(dW ∘ W)) / √d; dQ = dS K; dK = dSᵀ Q. Blocked keys have W = 0.
    The bounds are the largest of the same products of absolute values, times the relative error
    of a weight and of a sum over the keys, the queries or the width. The largest, since a right
    answer may reach a small gradient, such as a blocked key's 0, by cancelling large ones.
    """
    weights, root = trace.weights, trace.query.shape[-1] ** 0.5
    of_weights = cotangent @ swap(trace.value)
    inner = (of_weights * weights).sum(-1, keepdims=True)
    of_logits = weights * (of_weights - inner) / root
    values = (of_logits @ trace.key, swap(of_logits) @ trace.query, swap(weights) @ cotangent)

    size = np.abs(cotangent) @ swap(np.abs(trace.value))
    sizes = weights * (size + (size * weights).sum(-1, keepdims=True)) / root
    relative = (roundoffs(trace)[1] - 1) / np.where(weights == 0, 1, weights)
    factor = 2 * relative.max() + 4 * sum(weights.shape[-2:]) + 2 * trace.value.shape[-1]
    bounds = (
        sizes @ np.abs(trace.key),
        swap(sizes) @ np.abs(trace.query),
        swap(weights) @ np.abs(cotangent),
    )
    of_query, of_key, of_value = (
        Expected(value, factor * bound.max()) for value, bound in zip(values, bounds, strict=True)
    )
    return of_query, of_key, of_value
