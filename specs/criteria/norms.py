"""What the norms of a block must be beside what its numbers show: the ε that they add is small."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from harness import Draw, Facet, Judge, criterion
from specs.criteria.blocks import SIZES
from specs.reference.layers import Layers

Floats = np.ndarray[Any, Any]

#: Deviations at which a norm is looked at; the square of the smallest is a normal float32.
DEVIATIONS: Final = 10.0 ** np.arange(-14, 0.5, 0.5)
#: What the brief allows, and what float32 makes of it.
LARGEST: Final = 1.02e-5


class Epsilon(NamedTuple):
    """What a norm adds lest it divide by 0."""

    size: float
    added_to: str  #: the variance or the deviation


def read_epsilon(divisors: Floats) -> Epsilon:
    """Tell ε from what a norm divides by at each of the deviations.

    At the smallest that is √ε, or ε itself where it is added outside the root. Which of them is
    told by the deviation nearest to it: there the sum of squares is √2 of each, the other sum 2.
    """
    smallest, first = float(DEVIATIONS[0]), float(divisors[0])
    if first < 1.5 * smallest:
        return Epsilon(0.0, "variance")
    inside, outside = first**2 - smallest**2, first - smallest
    near = int(np.abs(np.log(DEVIATIONS / first)).argmin())
    deviation = float(DEVIATIONS[near])
    sums = (deviation**2 + inside) ** 0.5, deviation + outside
    apart = [abs(np.log(divisors[near] / found)) for found in sums]
    return Epsilon(inside, "variance") if apart[0] <= apart[1] else Epsilon(outside, "deviation")


@criterion(
    facet=Facet.STABILITY,
    hint="nn.LayerNorm adds 1e-5 to the variance; by hand, take that or less.",
    earns_with="definition",
    question="What is the ε of a LayerNorm for, and how large may it be?",
    answer="Lest a row of equal features divide by 0: small beside the variances, 1e-5.",
)
def norm_epsilon(layers: Layers, draw: Draw, judge: Judge):
    """The norms add a small ε, 1e-5 or less, to the variance or to the deviation.

    Each norm is read off by itself: the other sublayer is zeroed, and its own gives what the norm
    gives. One position attends to itself alone, and GELU(y) - GELU(-y) = y.
    """
    pattern = draw.normal(SIZES[0])
    pattern = (pattern - pattern.mean()) / pattern.std()
    x = (DEVIATIONS[:, None, None] * pattern).astype(np.float32)
    layer = layers.proxy.drawn(draw, *SIZES, True)
    shown = SIZES[2] // 2
    for weights, which in zip(_transparent(layer.weights), ("attention", "feed-forward")):
        layer.set(weights)
        # With an echo it is not recorded: right answers differ where their ε shows.
        returned = layers.proxy.echoing(layer, x)
        out = judge.finite(judge.shape(returned["out"], x.shape, "out"), "out")
        given = (out.values.astype(np.float64) - x)[:, 0, :shown] @ pattern[:shown]
        judge.require((given > 0).all(), f"the norm before the {which} is none of its input")
        found = read_epsilon(DEVIATIONS * (pattern[:shown] ** 2).sum() / given)
        if not found.size:
            judge.note(f"the norm before the {which} adds no ε")
            continue
        judge.require(
            found.size <= LARGEST,
            f"the norm before the {which} adds ε = {found.size:.2g} to the {found.added_to}, "
            "expected at most 1e-05",
        )
        judge.note(f"the norm before the {which} adds ε = {found.size:.2g} to the {found.added_to}")


def _transparent(weights: Any) -> tuple[dict[str, Floats], dict[str, Floats]]:
    """Return weights with which a block adds its first norm to x, and with which its second."""
    bare: dict[str, Floats] = {name: np.zeros_like(array) for name, array in weights.items()}
    for name in ("gain_1", "gain_2"):
        bare[name] = np.ones_like(weights[name])
    attending = {**bare, "W_V": np.eye(SIZES[0]), "W_O": np.eye(SIZES[0])}
    hidden = np.repeat(np.eye(SIZES[0], SIZES[2] // 2), 2, axis=1) * np.tile([1, -1], SIZES[2] // 2)
    return attending, {**bare, "W_1": hidden, "W_2": hidden.T}
