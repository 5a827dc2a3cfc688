"""How far off a right layer may be: rounding errors carried through its steps.

Worst-case bounds multiply from step to step: for a multi-head layer they would forgive an error
of 2 %. Errors of single roundings are as good as independent, so that they add as variances do
(Higham and Mary 2019, *A new approach to probabilistic rounding error analysis*). Every function
here returns variances in squared unit roundoffs; ``bound`` makes a bound of them, 8 standard
deviations. Right answers have come to at most a third of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from specs.reference.stages import Trace, swap

Array = np.ndarray[Any, Any]
Weights = Mapping[str, Array]

#: A bound is so many standard deviations. Beyond 8, independent errors come once in 10¹⁵ numbers.
DEVIATIONS: Final = 8.0
SMALLEST: Final = 2.0**-1000
#: Unit roundoff of the format that layers compute in.
FLOAT32_ROUNDOFF: Final = 2.0**-24


def bound(variances: Array) -> Array:
    """Return by how many unit roundoffs a right answer may be off: never by none at all.

    The variance of a weight of 1e-200 underflows, its error does not.
    """
    return DEVIATIONS * np.sqrt(variances) + SMALLEST


def linear(x: Array, of_x: Array | float, weights: Weights, name: str) -> Array:
    """Return the variances of x W + b, those of x being ``of_x``.

    n products and a bias are added in any order: up to n + 2 roundings of each.
    """
    squares = weights[f"W_{name}"] ** 2
    own = x**2 @ squares + weights[f"b_{name}"] ** 2
    return np.broadcast_to(of_x, x.shape) @ squares + (len(squares) + 2) * own


def attention(trace: Trace, of_query: Array, of_key: Array, of_value: Array) -> Array:
    """Return the variances of attention's output, those of Q, K and V being given.

    A score is a scaled dot product of d terms (d + 8 roundings of each, as in
    ``stages.roundoffs``), and its error is a relative error ε_j of exp. A weight p_j then is off
    by p_j (ε_j - Σ p ε), which moves the output by Σ p_j ε_j (v_j - out).
    """
    query, key, value = trace.query, trace.key, trace.value
    raw = np.abs(trace.raw).sum()
    logits = np.where(np.isfinite(trace.logits), trace.logits, 0)
    gain = (np.abs(logits).sum() / max(raw, 1e-300)) ** 2
    keys_squared = swap(key**2)
    moved = of_query @ keys_squared + query**2 @ swap(of_key)
    own = (query.shape[-1] + 8) * (query**2 @ keys_squared)
    peak = (logits**2).max(-1, keepdims=True)
    relative = gain * (moved + own) + 3 * peak + 8
    weights = trace.weights**2
    shares = weights * relative
    out = trace.weights @ value
    spread = shares @ value**2 - 2 * out * (shares @ value) + out**2 * shares.sum(-1)[..., None]
    sums = (value.shape[-2] + 8) * (weights @ value**2)
    return np.maximum(spread, 0) + sums + weights @ of_value + out**2


def norm(x: Array, of_x: Array | float, gain: Array, shift: Array, epsilon: float) -> Array:
    """Return the variances of LayerNorm, those of x being ``of_x``.

    With s the standard deviation and y = (x - mean) / s, an error δ of x moves y by
    (δ - mean δ)/s - y · mean(y δ)/s. Mean, difference, square and root round a few times each.
    Whoever has none of the ε, or adds it outside the root, has an answer as right as any: that
    moves y by y·ε/2s² and y·ε/s.
    """
    width = x.shape[-1]
    of_x = np.broadcast_to(of_x, x.shape)
    deviation = x.var(-1)[..., None] + epsilon
    y = (x - x.mean(-1)[..., None]) / np.sqrt(deviation)
    means = of_x.mean(-1)[..., None] + y**2 * (y**2 * of_x).mean(-1)[..., None]
    carried = (of_x + means / width) / deviation
    own = 4 * (x**2 + (x**2).mean(-1)[..., None]) / deviation + 8 * y**2
    of_epsilon = y * epsilon * (0.5 / deviation + deviation**-0.5) / FLOAT32_ROUNDOFF
    return (carried + own + of_epsilon**2) * gain**2 + shift**2
