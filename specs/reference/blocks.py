"""A pre-norm Transformer block: the reference.

x + attention(norm₁(x)), and then that + feed-forward(norm₂(that)); LayerNorm over the features,
GELU between two projections. Weights are those of attention, and ``W_1``, ``W_2`` with their
biases, ``gain_1``, ``shift_1``, ``gain_2``, ``shift_2``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from harness import Expected, State
from specs.reference import layers, rounding
from specs.reference.layers import MULTI_HEAD, Weights, project
from specs.reference.stages import library

Array = Any
Sublayer = Callable[[Array], Array]

#: What ``nn.LayerNorm`` adds to the variance.
EPSILON: Final = 1e-5


def standardise(x: Array) -> Array:
    """Subtract the mean over the features and divide by their standard deviation."""
    width = x.shape[-1]
    centred = x - x.sum(-1, keepdims=True) / width
    return centred / ((centred**2).sum(-1, keepdims=True) / width + EPSILON) ** 0.5


def norm(x: Array, weights: Weights, name: str) -> Array:
    """LayerNorm."""
    return standardise(x) * weights[f"gain_{name}"] + weights[f"shift_{name}"]


def gelu(x: Array) -> Array:
    """x Φ(x), with the normal distribution's Φ."""
    return x * (1 + erf(x / 2**0.5)) / 2


def erf(x: Array) -> Array:
    """The error function, of a numpy array too: by torch, which is off by 1e-16 at most."""
    import torch

    if library(x) is not np:
        return torch.erf(x)
    return torch.erf(torch.from_numpy(np.asarray(x, np.float64))).numpy()


def gelu_by_tanh(x: Array) -> Array:
    """GELU in the approximate form of Hendrycks and Gimpel 2016, equation 2."""
    inner = (2 / math.pi) ** 0.5 * (x + 0.044715 * x**3)
    return x * (1 + library(x).tanh(inner)) / 2


def residual(x: Array, normalised: Sublayer, sublayer: Sublayer) -> Array:
    """x + f(norm(x)): pre-norm, the residual is taken before the norm."""
    return x + sublayer(normalised(x))


def causal(length: int) -> np.ndarray[Any, Any]:
    """Row i sees 0 … i."""
    return np.tri(length, dtype=bool)


def real_keys(padding: Array) -> Array:
    """(B, T), True = real, to (B, 1, 1, T): keys that are padding are seen by nobody."""
    return padding[:, None, None, :]


def both(past: Array | None, real: Array) -> Array:
    """A key is seen where both masks allow it; one that is not causal has no ``past``."""
    return real if past is None else past & real


REFERENCE = MappingProxyType(
    {
        **MULTI_HEAD,
        "norm": norm,
        "activate": gelu,
        "attend_sublayer": residual,
        "feed_sublayer": residual,
        "causal": causal,
        "pad": real_keys,
        "combine": both,
        "default_causal": lambda: True,
    }
)
BY_TANH = MappingProxyType({**REFERENCE, "activate": gelu_by_tanh})


def allowed(parts: Any, x: Array, is_causal: bool, padding: Array | None) -> Array | None:
    """Return which keys every query may see, or None: all."""
    past = None
    if is_causal:
        past = parts["causal"](x.shape[1])
        past = past if library(x) is np else library(x).from_numpy(past)
    if padding is None:
        return past
    return parts["combine"](past, parts["pad"](padding))


def block(
    parts: Any, weights: Weights, made_of: tuple[Any, ...], x: Array, padding: Array | None = None
) -> Array:
    """Run one block over (B, T, d_model)."""
    _, count, _, *flag = made_of
    mask = allowed(parts, x, flag[0] if flag else parts["default_causal"](), padding)

    def attend(y: Array) -> Array:
        return layers.multi_head(parts, weights, count, y, y, y, mask)[0]

    def feed(y: Array) -> Array:
        return project(parts["activate"](project(y, weights, "1")), weights, "2")

    def normalised(name: str) -> Sublayer:
        return lambda y: parts["norm"](y, weights, name)

    x = parts["attend_sublayer"](x, normalised("1"), attend)
    return parts["feed_sublayer"](x, normalised("2"), feed)


def block_roundoffs(
    parts: Any, weights: Weights, made_of: tuple[Any, ...], x: Array, padding: Array | None
) -> Array:
    """Bound the rounding errors of a right block, sublayer by sublayer.

    GELU has a slope of at most 1.13, and Φ(x) is off by a few roundoffs of 1 whatever its size. A
    residual adds the errors of both sides, and one rounding.
    """
    _, count, _, *flag = made_of
    mask = allowed(parts, x, flag[0] if flag else parts["default_causal"](), padding)

    def normalised(array: Array, errors: Array | float, name: str) -> tuple[Array, Array]:
        gain, shift = weights[f"gain_{name}"], weights[f"shift_{name}"]
        return norm(array, weights, name), rounding.norm(array, errors, gain, shift, EPSILON)

    first, errors = normalised(x, 0.0, "1")
    attended, trace = layers.multi_head(parts, weights, count, first, first, first, mask)
    errors = layers.multi_head_variances(weights, count, trace, [first] * 3, errors)
    x = x + attended
    errors = errors + x**2
    second, into = normalised(x, errors, "2")
    hidden = project(second, weights, "1")
    activated = 1.13**2 * rounding.linear(second, into, weights, "1") + 16 * hidden**2
    fed = parts["activate"](hidden)
    errors = errors + rounding.linear(fed, activated, weights, "2")
    return rounding.bound(errors + (x + project(fed, weights, "2")) ** 2)


def expected_block(parts: Any, state: State, *arguments: Array) -> tuple[Expected, ...]:
    """Return what a block in this state gives, with the rounding bound of a right one.

    Rows of padding, and rows that see nothing, are not compared.
    """
    weights, (x, *rest) = layers.exact(state, arguments)
    padding = rest[0] if rest else None
    out = block(parts, weights, state.made_of, x.copy(), *rest)
    right = {**parts, **{name: REFERENCE[name] for name in REFERENCE if name != "activate"}}

    def bound() -> Array:
        found = block_roundoffs(right, weights, state.made_of, x, padding)
        return found if found.shape == out.shape else 1e3 * np.abs(out).max(initial=1.0)

    expected = Expected(out, bound)
    if padding is None or out.shape != x.shape:
        return (expected,)
    _, _, _, *flag = state.made_of
    is_causal = flag[0] if flag else True
    seen = np.broadcast_to(
        allowed(REFERENCE, x, is_causal, padding), (len(x), 1, x.shape[1], x.shape[1])
    ).any(-1)[:, 0]
    return (expected.where(np.broadcast_to((padding & seen)[..., None], out.shape)),)
