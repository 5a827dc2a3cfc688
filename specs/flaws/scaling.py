"""Mistakes of the stages score and scale."""

from __future__ import annotations

from functools import partial
from typing import Any

from harness import Flaw, Stage
from specs.reference.stages import library, swap

Array = Any

ASK_SCALE = (
    "What is the variance of q·k for two independent N(0,1) vectors of width d, and what follows?"
)
ANSWER_SCALE = (
    "It is d; unscaled scores grow with √d, the softmax saturates and its gradient vanishes."
)

score = partial(Flaw, stage=Stage.SCORE)
scale = partial(Flaw, stage=Stage.SCALE, question=ASK_SCALE, answer=ANSWER_SCALE)


def unscaled(logits: Array, width: int) -> Array:
    """The scores as they are."""
    return logits


def reshape_keys(query: Array, key: Array) -> Array:
    """Q times K reshaped to (d, T): the shape of Kᵀ with the numbers in K's order."""
    return query @ key.reshape(*key.shape[:-2], key.shape[-1], key.shape[-2])


def keys_over_heads(query: Array, key: Array) -> Array:
    """Q times K with its heads and tokens exchanged."""
    return query @ key.swapaxes(1, 2)


def add_distance(query: Array, key: Array) -> Array:
    """Q Kᵀ with a bonus for keys of a high index."""
    logits = query @ swap(key)
    ramp = library(logits).arange(logits.shape[-1]) * 0.25
    return logits + (ramp if library(logits).__name__ == "numpy" else ramp.to(logits.dtype))


def unit(array: Array) -> Array:
    """Divide every row by its length."""
    return array / (array**2).sum(-1, keepdims=True) ** 0.5


def cosines(query: Array, key: Array) -> Array:
    """The cosine of each query and each key, whatever their lengths."""
    return unit(query) @ swap(unit(key))


def root_of_values(query: Array, key: Array, value: Array) -> tuple[Array, Array, Array]:
    """Make up for √d_k, so that the scores end up divided by √d_v."""
    return query * (query.shape[-1] / value.shape[-1]) ** 0.5, key, value


def scale_query_in_place(query: Array, key: Array, value: Array) -> tuple[Array, Array, Array]:
    """Divide the caller's own query by √d."""
    if getattr(query, "requires_grad", False):
        return query / query.shape[-1] ** 0.5, key, value
    query /= query.shape[-1] ** 0.5
    return query, key, value


def over_all_heads(weights: Array, width: int) -> Array:
    """Divide the weights by the root of the width of all heads together."""
    heads = weights.shape[1] if weights.ndim > 3 else 1
    return weights / (heads * width) ** 0.5


def rounded_to(digits: int | None, logits: Array, width: int) -> Array:
    """Divide by the root, rounded to so many digits, or cut to a whole number."""
    return logits / (int(width**0.5) if digits is None else round(width**0.5, digits))


FLAWS = (
    score(
        id="queries-scored",
        title="queries scored against queries, QQᵀ",
        parts={"score": lambda query, key: query @ swap(query)},
        caught_by=("definition",),
        question="Which of Q, K and V does the other sequence provide in cross-attention?",
        answer="K and V; scoring Q against itself ignores the other sequence entirely.",
    ),
    score(
        id="keys-reshaped",
        title="K reshaped instead of transposed",
        parts={"score": reshape_keys},
        caught_by=("definition", "permutation"),
        question="K is (T, d). What is in row 0 of K.reshape(d, T), and what in row 0 of K.T?",
        answer="The first T numbers of K in memory, against feature 0 of every key.",
    ),
    score(
        id="position-in-score",
        title="the key's position added to its score",
        parts={"score": add_distance},
        caught_by=("permutation", "definition"),
        question="What happens to the output of self-attention when the tokens are permuted?",
        answer="It is permuted alike: order has to come from the inputs or a stated bias.",
    ),
    scale(
        id="no-scale",
        title="no scale: the scores not divided by √d_k",
        parts={"scale": unscaled},
        caught_by=("definition", "scale", "scale-effect", "sdpa-parity"),
    ),
    scale(
        id="scale-by-d",
        title="scores divided by d_k, not by √d_k",
        parts={"scale": lambda logits, width: logits / width},
        caught_by=("definition", "scale"),
    ),
    scale(
        id="scaled-twice",
        title="scores divided by √d_k twice",
        parts={"scale": lambda logits, width: logits / width**0.5 / width**0.5},
        caught_by=("definition", "scale"),
    ),
    scale(
        id="multiplied-by-root-d",
        title="scores multiplied by √d_k",
        parts={"scale": lambda logits, width: logits * width**0.5},
        caught_by=("definition", "scale", "scale-effect"),
    ),
    scale(
        id="scale-by-length",
        title="scores divided by √T, the number of keys",
        parts={"scale": lambda logits, width: logits / logits.shape[-1] ** 0.5},
        caught_by=("definition", "scale", "scale-effect"),
    ),
    scale(
        id="scale-by-query-length",
        title="scores divided by √T_q, the number of queries",
        parts={"scale": lambda logits, width: logits / logits.shape[-2] ** 0.5},
        caught_by=("definition", "scale", "scale-effect"),
    ),
    scale(
        id="scale-constant",
        title="scores divided by a constant, 8, whatever d_k is",
        parts={"scale": lambda logits, width: logits / 8},
        also=({"scale": lambda logits, width: logits / 8**0.5},),
        caught_by=("definition", "scale", "scale-effect"),
        question="Your heads are 128 wide tomorrow. What does your scale do then?",
        answer="The same as before, so scores grow: the divisor must be the root of q.shape[-1].",
    ),
    scale(
        id="scale-rounded",
        title="scores divided by a rounded root",
        parts={"scale": partial(rounded_to, None)},
        also=tuple({"scale": partial(rounded_to, digits)} for digits in range(4)),
        caught_by=("scale",),
        question="√6 is 2.449…; what becomes of your scores when you round it?",
        answer="All are off by one factor, and no check against a reference passes: keep the root.",
    ),
    score(
        id="cosine-scores",
        title="cosines for scores: q and k divided by their lengths",
        parts={"score": cosines, "scale": unscaled},
        also=({"score": cosines},),
        caught_by=("definition", "scale"),
        question="How large can a cosine be, and how soft is a softmax of such scores?",
        answer="At most 1, so that no weight exceeds another by more than e²: lengths carry meaning.",
    ),
    scale(
        id="scale-after-softmax",
        title="the scale applied to the weights, after the softmax",
        parts={"scale": unscaled, "scale_weights": lambda weights, width: weights / width**0.5},
        also=({"scale": unscaled, "scale_weights": over_all_heads},),
        caught_by=("definition", "scale", "softmax-axis", "weights-valid"),
    ),
    scale(
        id="scale-on-values",
        title="V divided by √d_k instead of the scores",
        parts={
            "scale": unscaled,
            "prepare": lambda query, key, value: (query, key, value / query.shape[-1] ** 0.5),
        },
        # Two quarter roots, of which one belongs to the key.
        also=(
            {
                "scale": lambda logits, width: logits / width**0.25,
                "prepare": lambda query, key, value: (query, key, value / query.shape[-1] ** 0.25),
            },
        ),
        caught_by=("definition", "scale", "values-aggregated"),
    ),
    scale(
        id="query-scaled-in-place",
        hidden=True,
        title="the caller's query divided in place",
        parts={"scale": unscaled, "prepare": scale_query_in_place},
        caught_by=("inputs-untouched", "self-attention"),
        question="Your function is called twice with the same Q. What does the second call return?",
        answer="Something else: `q /= …` changed the caller's array; write `q = q / …`.",
    ),
)

#: Where V has a width of its own.
BY_VALUES = scale(
    id="scale-by-value-width",
    title="scores divided by √d_v, the width of the values",
    parts={"prepare": root_of_values},
    caught_by=("definition",),
)

#: Where there are heads.
KEYS_OVER_HEADS = score(
    id="keys-transposed-over-heads",
    title="K transposed over tokens and heads: K.transpose(1, 2)",
    parts={"score": keys_over_heads},
    caught_by=("definition",),
    question="K is (B, h, T, d). Which two axes does K.transpose(1, 2) exchange?",
    answer="Heads and tokens. The product needs the last two: K.transpose(-2, -1), (B, h, d, T).",
)
