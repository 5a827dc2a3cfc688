"""Mistakes of the stages normalise and aggregate."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from harness import Flaw, Stage
from specs.reference.stages import library, softmax, swap

Array = Any

ASK_AXIS = "The weights are (…, Tq, Tk). Which axis sums to 1, and what does a row then mean?"
ANSWER_AXIS = "The last one, over the keys: a row says how one query divides its attention."
ASK_STABLE = "What does exp(1000) give in float32, and why may any constant be subtracted first?"
ANSWER_STABLE = (
    "inf; softmax(x + c) = softmax(x), so subtracting each row's own maximum is free and safe."
)

normalise = partial(Flaw, stage=Stage.NORMALISE, question=ASK_AXIS, answer=ANSWER_AXIS)
stability = partial(Flaw, stage=Stage.NORMALISE, question=ASK_STABLE, answer=ANSWER_STABLE)
aggregate = partial(
    Flaw,
    stage=Stage.AGGREGATE,
    question="Q and K decide the weights. What is V for, and what is read when K is summed instead?",
    answer="V carries the content; summing K returns the index that was matched, not what it holds.",
)


def over_everything(logits: Array) -> Array:
    """Softmax over all numbers of one item."""
    flat = softmax(logits.reshape(logits.shape[0], -1))
    return flat.reshape(logits.shape)


def summed_without_axis(logits: Array) -> Array:
    """Exponentials below each row's maximum, divided by the sum of all."""
    xp = library(logits)
    peak = xp.amax(logits, -1, keepdims=True)
    exponentials = xp.exp(logits - xp.where(xp.isfinite(peak), peak, peak * 0))
    return exponentials / exponentials.sum()


def over_the_batch_too(logits: Array) -> Array:
    """Softmax over all numbers."""
    return softmax(logits.reshape(-1)).reshape(logits.shape)


def over_queries_and_keys(logits: Array) -> Array:
    """Softmax over all numbers of one head of one item."""
    flat = softmax(logits.reshape(*logits.shape[:-2], -1))
    return flat.reshape(logits.shape)


def twice(logits: Array) -> Array:
    """Softmax of the softmax."""
    return softmax(softmax(logits))


def logarithm(logits: Array) -> Array:
    """The logarithm of the softmax."""
    with np.errstate(all="ignore"):
        xp = library(logits)
        peak = xp.amax(logits, -1, keepdims=True)
        total = xp.exp(logits - peak).sum(-1, keepdims=True)
        return logits - peak - xp.log(total)


def hard_maximum(logits: Array) -> Array:
    """All the weight for the largest score."""
    return (logits == library(logits).amax(logits, -1, keepdims=True)) * (logits * 0 + 1.0)


def sigmoid(logits: Array) -> Array:
    """Squash each score on its own."""
    return 1 / (1 + library(logits).exp(-logits))


def shifted_softmax(logits: Array, axis: int, peak: Array) -> Array:
    """Softmax that subtracts ``peak``, whatever that is."""
    with np.errstate(all="ignore"):
        exponentials = library(logits).exp(logits - peak)
        return exponentials / exponentials.sum(axis, keepdims=True)


def without_maximum(logits: Array, axis: int = -1) -> Array:
    """Exponentiate the scores as they are."""
    return shifted_softmax(logits, axis, 0.0)


def global_maximum(logits: Array, axis: int = -1) -> Array:
    """Subtract the one maximum of the whole batch."""
    return shifted_softmax(logits, axis, logits.max())


def maximum_over_queries(logits: Array, axis: int = -1) -> Array:
    """Subtract the maximum of each column."""
    if logits.ndim < 2:
        return softmax(logits, axis)
    other = -2 if axis in (-1, logits.ndim - 1) else -1
    peak = library(logits).amax(logits, other, keepdims=True)
    peak = library(logits).where(library(logits).isfinite(peak), peak, peak * 0)
    return shifted_softmax(logits, axis, library(logits).nan_to_num(peak))


def unguarded(logits: Array, axis: int = -1) -> Array:
    """Softmax that divides 0 by 0 when every score of a row is -inf."""
    with np.errstate(all="ignore"):
        xp = library(logits)
        exponentials = xp.exp(logits - xp.amax(logits, axis, keepdims=True))
        return exponentials / exponentials.sum(axis, keepdims=True)


def least_fill(logits: Array, allowed: Array) -> Array:
    """Set blocked scores to the least number of float32."""
    return library(logits).where(allowed, logits, float(np.finfo(np.float32).min))


def in_single_after_values(weights: Array, query: Array, key: Array, value: Array) -> Array:
    """Softmax of scores times V in float32, where sums of the least numbers overflow."""
    if library(weights) is not np:
        return softmax(weights @ value)
    with np.errstate(all="ignore"):
        product = weights.astype(np.float32) @ value.astype(np.float32)
        exponentials = np.exp(product - product.max(-1, keepdims=True))
        return (exponentials / exponentials.sum(-1, keepdims=True)).astype(np.float64)


def last_axis_only(x: Array, axis: int = -1) -> Array:
    """Softmax that does not look at ``axis``."""
    return softmax(x)


def rotate_weights(out: Array, weights: Array) -> tuple[Array, Array]:
    """Return the weights transposed."""
    return out, swap(weights)


FLAWS = (
    normalise(
        id="softmax-over-queries",
        title="the softmax over the queries",
        parts={"normalise": partial(softmax, axis=-2)},
        also=({"normalise": partial(unguarded, axis=-2)},),
        caught_by=("definition", "softmax-axis", "weights-valid"),
    ),
    normalise(
        id="softmax-over-batch",
        title="the softmax over the batch",
        parts={"normalise": partial(softmax, axis=0)},
        also=({"normalise": partial(unguarded, axis=0)},),
        caught_by=("definition", "softmax-axis", "weights-valid"),
    ),
    normalise(
        id="softmax-over-everything",
        title="the softmax over all scores at once: a sum without an axis",
        parts={"normalise": over_everything},
        also=({"normalise": over_the_batch_too}, {"normalise": summed_without_axis}),
        caught_by=("definition", "softmax-axis", "weights-valid"),
    ),
    normalise(
        id="softmax-after-values",
        title="the softmax taken after V was multiplied",
        parts={
            "normalise": lambda logits: logits,
            "aggregate": lambda weights, query, key, value: softmax(weights @ value),
        },
        also=(
            {
                "mask": least_fill,
                "normalise": lambda logits: logits,
                "aggregate": in_single_after_values,
            },
        ),
        caught_by=("definition", "softmax-before-values", "softmax-axis", "weights-valid"),
    ),
    normalise(
        id="output-through-softmax",
        title="the softmax taken after V was multiplied, and once more for the weights",
        parts={
            "normalise": lambda logits: logits,
            "aggregate": lambda weights, query, key, value: softmax(weights @ value),
            "finish": lambda out, weights: (out, softmax(weights)),
        },
        also=(
            {
                "mask": least_fill,
                "normalise": lambda logits: logits,
                "aggregate": in_single_after_values,
                "finish": lambda out, weights: (out, softmax(weights)),
            },
        ),
        caught_by=("definition", "softmax-before-values"),
    ),
    normalise(
        id="no-softmax",
        title="no softmax: the scores themselves multiplied by V",
        parts={"normalise": lambda logits: logits},
        caught_by=("definition", "softmax-before-values", "softmax-axis", "weights-valid"),
    ),
    normalise(
        id="softmax-twice",
        title="the softmax taken twice",
        parts={"normalise": twice},
        caught_by=("definition", "scale", "mask-value"),
        question="What is the softmax of weights between 0 and 1?",
        answer="Nearly uniform: no weight exceeds another by more than a factor of e; blocked keys "
        "are back.",
    ),
    normalise(
        id="log-softmax",
        title="the logarithm of the softmax for the weights",
        parts={"normalise": logarithm},
        caught_by=("definition", "softmax-axis", "weights-valid"),
        question="What is log_softmax for, and what sign do its values have?",
        answer="For losses; they are negative, so they are no weights of an average.",
    ),
    normalise(
        id="argmax",
        is_trivial=True,
        title="the largest score takes all: a maximum in the place of the softmax",
        parts={"normalise": hard_maximum},
        caught_by=("definition", "scale"),
        question="What does the softmax tend to for large scores, and what is lost there?",
        answer="To the maximum: no mixture is left, and no gradient reaches Q and K.",
    ),
    normalise(
        id="sigmoid",
        title="a sigmoid of each score instead of the softmax",
        parts={"normalise": sigmoid},
        caught_by=("definition", "softmax-axis", "weights-valid"),
    ),
    stability(
        id="no-maximum",
        title="a softmax that does not subtract the maximum",
        parts={"normalise": without_maximum, "softmax": without_maximum},
        caught_by=("stable-softmax",),
    ),
    stability(
        id="global-maximum",
        title="a softmax that subtracts one maximum for the whole batch",
        parts={"normalise": global_maximum, "softmax": global_maximum},
        caught_by=("stable-softmax",),
    ),
    stability(
        id="maximum-over-queries",
        title="a softmax that subtracts the maximum over the wrong axis",
        parts={"normalise": maximum_over_queries, "softmax": maximum_over_queries},
        caught_by=("stable-softmax",),
    ),
    Flaw(
        id="nan-row",
        title="NaN for a query with no allowed key: -inf in every score, then 0 / 0",
        stage=Stage.MASK,
        parts={"normalise": unguarded},
        caught_by=("fully-masked-row",),
        question="A whole row is masked with -inf. What is its softmax, and where does the NaN go?",
        answer="0/0 = NaN; it spreads through W_O, the residual and the gradients. Fill finitely or guard.",
    ),
    aggregate(
        id="keys-aggregated",
        title="K summed instead of V",
        parts={"aggregate": lambda weights, query, key, value: weights @ key},
        caught_by=("definition", "values-aggregated"),
    ),
    aggregate(
        id="queries-aggregated",
        title="Q summed instead of V",
        parts={"aggregate": lambda weights, query, key, value: weights @ query},
        caught_by=("definition", "values-aggregated"),
    ),
    aggregate(
        id="weights-transposed",
        title="the transposed weights multiplied by V",
        parts={"aggregate": lambda weights, query, key, value: swap(weights) @ value},
        caught_by=("definition", "values-aggregated"),
        question="Row i of the output is a mix of values. Whose weights are in that mix?",
        answer="Query i's: row i of the weights, not column i.",
    ),
    aggregate(
        id="weights-returned-transposed",
        title="the weights returned as (…, Tk, Tq)",
        parts={"finish": rotate_weights},
        caught_by=("weights-shape",),
        question="What does weights[b, i, j] mean in your function?",
        answer="How much query i takes from key j; rows are queries.",
    ),
)


def repaired_output(out: Array, weights: Array) -> tuple[Array, Array]:
    """Turn NaN into 0 in the output, and not in the weights."""
    return library(out).nan_to_num(out), weights


shown = partial(
    Flaw,
    question="Of what do your returned weights sum to 1, and which of them are 0?",
    answer="Each query's row; those of blocked keys: they are the weights that V was multiplied by.",
)

#: Mistakes that show in weights which are returned.
RETURNED = (
    shown(
        id="scores-returned",
        title="the scores returned in the place of the weights",
        stage=Stage.NORMALISE,
        parts={"show": lambda weights, logits, masked: logits},
        also=({"show": lambda weights, logits, masked: masked},),
        caught_by=("softmax-axis", "weights-valid"),
    ),
    shown(
        id="unmasked-weights-returned",
        title="weights returned as they are without the mask, though the output is right",
        stage=Stage.MASK,
        parts={"show": lambda weights, logits, masked: softmax(logits)},
        caught_by=("mask-before-softmax",),
    ),
    Flaw(
        id="nan-weights",
        title="NaN in the weights of a query with no allowed key, hidden in the output",
        stage=Stage.MASK,
        parts={"normalise": unguarded, "finish": repaired_output},
        caught_by=("fully-masked-row",),
        question="You repair the output with nan_to_num. What do the weights hold?",
        answer="Still NaN, and so does the backward pass: make the row finite before the division.",
    ),
)


def over_first_axis(x: Array, axis: int = 0) -> Array:
    """Softmax over the first axis unless another is asked for."""
    return softmax(x, axis)


def in_place(x: Array, axis: int = -1) -> Array:
    """Softmax that subtracts the maximum from the caller's array."""
    x -= x.max(axis, keepdims=True)
    return softmax(x, axis)


def of_three_axes(x: Array, axis: int = -1) -> Array:
    """Softmax that insists on a batch of matrices."""
    if x.ndim != 3:
        raise ValueError(f"x has {x.ndim} axes, expected 3")
    return softmax(x, axis)


of_function = partial(
    Flaw,
    stage=Stage.NORMALISE,
    caught_by=("softmax-function",),
    question="Which axis is the default of your softmax, and which arrays may it be given?",
    answer="The last, and any: max and sum with keepdims need no number of axes.",
)

#: Mistakes of a softmax function of its own.
FUNCTION = (
    of_function(
        id="softmax-default-axis",
        title="a softmax over the first axis by default",
        parts={"softmax": over_first_axis},
    ),
    of_function(
        id="softmax-in-place",
        hidden=True,  # the numbers are right
        title="a softmax that subtracts the maximum from its argument in place",
        parts={"softmax": in_place},
        question="What does `x -= x.max()` do to the array of whoever called your softmax?",
        answer="It changes it: write x = x - x.max(…), which makes a new array.",
    ),
    of_function(
        id="softmax-three-axes",
        title="a softmax for three axes only",
        parts={"softmax": of_three_axes},
    ),
    stability(
        id="softmax-ignores-axis",
        title="a softmax that ignores its axis argument",
        parts={"softmax": last_axis_only},
        caught_by=("stable-softmax",),
        question="softmax(x, axis=0) of a 3 × 4 array: which sums are 1?",
        answer="Those of the four columns.",
    ),
)
