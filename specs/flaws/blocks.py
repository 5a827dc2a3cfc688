"""Mistakes of a Transformer block: residuals, norms, the feed-forward part, its masks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from harness import Flaw, Stage
from specs.flaws import training
from specs.reference.blocks import Sublayer, gelu, norm, standardise
from specs.reference.layers import Weights

Array = Any
Norm = Callable[[Array, Weights, str], Array]

ASK_RESIDUAL = "Write both lines of a pre-norm block. What does it give when a sublayer returns 0?"
ANSWER_RESIDUAL = "x = x + attention(norm1(x)); x = x + feed(norm2(x)). The input, unchanged."
ASK_MASKS = "A batch is padded and the block is causal. When may query i see key j?"
ANSWER_MASKS = "When j ≤ i and j is a real token: both masks, combined with &."

block = partial(Flaw, stage=Stage.BLOCK, question=ASK_RESIDUAL, answer=ANSWER_RESIDUAL)
mask = partial(Flaw, stage=Stage.MASK, question=ASK_MASKS, answer=ANSWER_MASKS)


def from_the_norm(x: Array, normalised: Sublayer, sublayer: Sublayer) -> Array:
    """x = norm(x); x = x + f(x)."""
    x = normalised(x)
    return x + sublayer(x)


def without_norm(x: Array, normalised: Sublayer, sublayer: Sublayer) -> Array:
    """x + f(x)."""
    return x + sublayer(x)


def without_residual(x: Array, normalised: Sublayer, sublayer: Sublayer) -> Array:
    """f(norm(x))."""
    return sublayer(normalised(x))


def after_the_sublayer(x: Array, normalised: Sublayer, sublayer: Sublayer) -> Array:
    """norm(x + f(x))."""
    return normalised(x + sublayer(x))


def left_out(x: Array, normalised: Sublayer, sublayer: Sublayer) -> Array:
    """No sublayer at all."""
    return x


def over_positions(x: Array, weights: Weights, name: str) -> Array:
    """Normalise each feature over the positions."""
    along = x.swapaxes(-1, -2)
    return standardise(along).swapaxes(-1, -2) * weights[f"gain_{name}"] + weights[f"shift_{name}"]


def over_batch(x: Array, weights: Weights, name: str) -> Array:
    """Normalise over the items of the batch and the features together, as a batch norm does."""
    centred = x - x.mean()
    deviation = ((centred**2).mean() + 1e-5) ** 0.5
    return centred / deviation * weights[f"gain_{name}"] + weights[f"shift_{name}"]


def _in_one_norm(wrong: Norm) -> tuple[dict[str, Norm], ...]:
    """Return the parts of a block in which only the first norm is wrong, or only the second."""

    def only(number: str) -> Norm:
        return lambda x, weights, name: (wrong if name == number else norm)(x, weights, name)

    return tuple({"norm": only(number)} for number in "12")


def without_gain(x: Array, weights: Weights, name: str) -> Array:
    """A norm that is made anew in every call, and so has no gain and no shift that are learned."""
    return standardise(x)


def not_centred(x: Array, weights: Weights, name: str) -> Array:
    """Divide by the root mean square."""
    size = ((x**2).mean(-1)[..., None] + 1e-5) ** 0.5
    return x / size * weights[f"gain_{name}"] + weights[f"shift_{name}"]


def by_sample(x: Array, weights: Weights, name: str) -> Array:
    """Divide by the deviation of a sample."""
    width = x.shape[-1]
    y = standardise(x) * ((width - 1) / width) ** 0.5
    return y * weights[f"gain_{name}"] + weights[f"shift_{name}"]


def large_epsilon(x: Array, weights: Weights, name: str, epsilon: float = 1e-3) -> Array:
    """Add 1e-3 to the variance."""
    centred = x - x.sum(-1, keepdims=True) / x.shape[-1]
    variance = (centred**2).sum(-1, keepdims=True) / x.shape[-1]
    y = centred / (variance + epsilon) ** 0.5
    return y * weights[f"gain_{name}"] + weights[f"shift_{name}"]


def relu(x: Array) -> Array:
    """max(0, x)."""
    return x * (x > 0)


def padded_queries(padding: Array) -> Array:
    """Block the queries that are padding: (B, 1, T, 1)."""
    return padding[:, None, :, None]


def _none(padding: Array) -> Array:
    every = padding == padding
    return every[:, None, None, :]


def added_in_place(x: Array, normalised: Sublayer, sublayer: Sublayer) -> Array:
    """x += f(norm(x)), on a tensor that may be the caller's; autograd forbids it on a leaf."""
    if getattr(x, "requires_grad", False):
        return x + sublayer(normalised(x))
    x += sublayer(normalised(x))
    return x


FLAWS = (
    block(
        id="residual-in-place",
        hidden=True,  # the output is right
        title="the residual added to the caller's tensor in place",
        parts={"attend_sublayer": added_in_place},
        caught_by=("inputs-untouched",),
        question="What does `x += self.attention(…)` do to the tensor that forward was given?",
        answer="It changes it, for the caller too; x = x + … makes a new one.",
    ),
    block(
        id="not-causal-by-default",
        title="a block that is not causal unless it is told to be",
        parts={"default_causal": lambda: False},
        caught_by=("causal-perturbation",),
        question="TransformerBlock(64, 4, 256): may position 0 see position 1?",
        answer="No: causal=True is the default that the brief asks for.",
    ),
    block(
        id="residual-after-norm",
        title="residuals taken from the normalised input",
        parts={"attend_sublayer": from_the_norm, "feed_sublayer": from_the_norm},
        caught_by=("residual-and-norm", "definition"),
    ),
    block(
        id="attention-residual-after-norm",
        title="the attention's residual taken from the normalised input",
        parts={"attend_sublayer": from_the_norm},
        caught_by=("residual-and-norm", "definition"),
    ),
    block(
        id="post-norm",
        title="the norm after the sum instead of before the sublayer",
        parts={"attend_sublayer": after_the_sublayer, "feed_sublayer": after_the_sublayer},
        caught_by=("residual-and-norm", "definition"),
        question="Pre-norm or post-norm: which one leaves a clean path from input to output?",
        answer="Pre-norm: x plus sums of sublayers; it trains deep stacks without warm-up.",
    ),
    block(
        id="no-attention-residual",
        title="no residual around the attention",
        parts={"attend_sublayer": without_residual},
        caught_by=("residual-and-norm", "definition"),
    ),
    block(
        id="no-feed-forward-residual",
        title="no residual around the feed-forward part",
        parts={"feed_sublayer": without_residual},
        caught_by=("residual-and-norm", "definition"),
    ),
    block(
        id="no-attention-norm",
        title="no norm before the attention",
        parts={"attend_sublayer": without_norm},
        caught_by=("residual-and-norm", "definition"),
    ),
    block(
        id="no-feed-forward-norm",
        title="no norm before the feed-forward part",
        parts={"feed_sublayer": without_norm},
        caught_by=("residual-and-norm", "definition"),
    ),
    block(
        id="no-feed-forward",
        title="no feed-forward part",
        parts={"feed_sublayer": left_out},
        caught_by=("residual-and-norm", "definition"),
        question="What does the feed-forward part do that attention does not?",
        answer="It transforms each position by itself, with a nonlinearity; attention only mixes.",
    ),
    block(
        id="one-norm-for-both",
        title="one norm used before both sublayers",
        parts={"norm": lambda x, weights, name: norm(x, weights, "1")},
        caught_by=("definition", "gradients"),
    ),
    block(
        id="norm-in-forward",
        title="norms made anew in every call, or without gain and shift",
        parts={"norm": without_gain},
        caught_by=("definition", "gradients"),
    ),
    block(
        id="norm-epsilon",
        hidden=True,  # at ordinary variances, within what is accepted
        title="norms that add a large ε",
        parts={"norm": large_epsilon},
        also=({"norm": partial(large_epsilon, epsilon=1e-4)}, *_in_one_norm(large_epsilon)),
        caught_by=("norm-epsilon",),
        question="What is the ε of a LayerNorm for, and how large may it be?",
        answer="Lest a row of equal features divide by 0: small beside the variances, 1e-5.",
    ),
    block(
        id="norm-over-positions",
        title="the norm over the positions instead of the features",
        parts={"norm": over_positions},
        also=_in_one_norm(over_positions),
        caught_by=("definition", "causal-perturbation"),
        question="x is (B, T, D). Over which axis does LayerNorm take mean and variance?",
        answer="D, for each position by itself: anything else lets positions see each other.",
    ),
    block(
        id="norm-over-batch",
        title="the norm over the whole batch",
        parts={"norm": over_batch},
        also=_in_one_norm(over_batch),
        caught_by=("definition", "batch-independent"),
        question="x is (B, T, D). Over which axis does LayerNorm take mean and variance?",
        answer="D, for each position by itself: anything else lets items see each other.",
    ),
    block(
        id="norm-not-centred",
        title="the root mean square in the place of LayerNorm's deviation",
        parts={"norm": not_centred},
        caught_by=("definition",),
        question="What does LayerNorm do that RMSNorm leaves out?",
        answer="It subtracts the mean of the features.",
    ),
    block(
        id="norm-sample-deviation",
        title="a norm by the sample's deviation, with d - 1 for d",
        parts={"norm": by_sample},
        caught_by=("definition",),
        question="x.std() and LayerNorm differ by a factor. Which?",
        answer="√(d / (d - 1)): torch's std divides by d - 1 unless it is told unbiased=False.",
    ),
    block(
        id="feed-forward-detached",
        hidden=True,
        title="a feed-forward cut off from the graph",
        parts={"activate": lambda x: gelu(training.cut(x))},
        caught_by=("gradients",),
        question="Which parameters would never train if the hidden layer were detached?",
        answer="Those of the first projection of the feed-forward, and of the norm before it.",
    ),
    block(
        id="relu",
        title="ReLU instead of GELU",
        parts={"activate": relu},
        caught_by=("definition",),
        question="Write GELU, and say where it differs from ReLU.",
        answer="x Φ(x): smooth, and slightly negative below 0.",
    ),
    block(
        id="no-activation",
        title="no activation between the two projections",
        parts={"activate": lambda x: x},
        caught_by=("definition",),
        question="What are two projections without a nonlinearity between them?",
        answer="One projection.",
    ),
    mask(
        id="not-causal",
        title="no causal mask",
        parts={"causal": lambda length: np.ones((length, length), dtype=bool)},
        caught_by=("causal-perturbation", "definition"),
    ),
    mask(
        id="causal-upside-down",
        title="the causal mask upside down: the future and itself",
        parts={"causal": lambda length: np.tri(length, dtype=bool).T},
        caught_by=("causal-perturbation", "definition"),
    ),
    mask(
        id="causal-one-ahead",
        title="a causal mask that lets each position see one ahead",
        parts={"causal": lambda length: np.tri(length, k=1, dtype=bool)},
        caught_by=("causal-perturbation", "definition"),
    ),
    mask(
        id="causal-without-itself",
        title="a causal mask without its diagonal",
        parts={"causal": lambda length: np.tri(length, k=-1, dtype=bool)},
        caught_by=("definition",),
    ),
    mask(
        id="masks-combined-with-or",
        title="causal and padding mask combined with or",
        parts={"combine": lambda past, real: real if past is None else past | real},
        also=({"combine": lambda past, real: real | True if past is None else past | real},),
        caught_by=("mask-combination",),
    ),
    mask(
        id="padding-replaces-causal",
        title="the causal mask dropped when a padding mask is given",
        parts={"combine": lambda past, real: real},
        caught_by=("mask-combination",),
    ),
    mask(
        id="causal-replaces-padding",
        title="the padding mask ignored when the block is causal",
        parts={"combine": lambda past, real: real if past is None else past},
        caught_by=("mask-combination",),
    ),
    mask(
        id="padding-ignored",
        title="the padding mask ignored",
        parts={"pad": _none},
        caught_by=("padding", "mask-combination"),
    ),
    mask(
        id="padding-inverted",
        title="the padding mask read the other way round: True is padding",
        parts={"pad": lambda padding: ~padding[:, None, None, :]},
        caught_by=("padding", "mask-combination"),
    ),
    mask(
        id="padding-on-queries",
        title="the padding mask along the queries",
        parts={"pad": padded_queries},
        caught_by=("padding", "mask-combination"),
        question="Does padding have to be blocked as a key, as a query, or both?",
        answer="As a key; what a padded query computes is thrown away.",
    ),
    mask(
        id="padding-of-first-item",
        title="the first item's padding used for the whole batch",
        parts={"pad": lambda padding: padding[:1, None, None, :]},
        caught_by=("padding", "mask-combination"),
        question="How do you make sure that each sentence of a batch gets its own padding mask?",
        answer="Keep the batch axis in the mask, (B, 1, 1, T), and test with masks that differ.",
    ),
)
