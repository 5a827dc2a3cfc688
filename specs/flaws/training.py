"""Mistakes that only torch code can make: dtypes, dropout, gradients, float masks."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from harness import Flaw, Stage
from specs.flaws.softmax import over_queries_and_keys, unguarded
from specs.reference.stages import library, no_dropout, softmax

Array = Any

aggregate = partial(Flaw, stage=Stage.AGGREGATE)
dropping = partial(
    aggregate,
    question="Where does attention dropout act, what happens to the weights that stay, and when?",
    answer="On the weights after the softmax, divided by 1 - p, in training only.",
)
mask = partial(Flaw, stage=Stage.MASK)
normalise = partial(Flaw, stage=Stage.NORMALISE)
scale = partial(Flaw, stage=Stage.SCALE)


def dropout(array: Array, probability: float, training: object) -> Array:
    """torch's own dropout."""
    return library(array).nn.functional.dropout(array, probability, bool(training))


def always(array: Array, probability: float, training: object) -> Array:
    """Dropout that does not look at ``training``."""
    return dropout(array, probability, True)


def unscaled(array: Array, probability: float, training: object) -> Array:
    """Dropout that does not divide by 1 - p."""
    return dropout(array, probability, training) * ((1 - probability) if training else 1.0)


def keeps_with_p(array: Array, probability: float, training: object) -> Array:
    """Dropout with 1 - p in the place of p."""
    return dropout(array, 1 - probability if probability else 0.0, training)


def renormalised(array: Array, probability: float, training: object) -> Array:
    """Dropout after which every row sums to 1 again."""
    kept = dropout(array, probability, training)
    if not training or not probability:
        return kept
    total = kept.sum(-1, keepdims=True)
    return kept / (total + (total == 0))


def always_a_tenth(array: Array, probability: float, training: object) -> Array:
    """Dropout with p = 0.1, whatever is asked for."""
    return dropout(array, 0.1 if probability else 0.0, training)


def _with_mask_of(shape: Any) -> Any:
    """Make a dropout whose mask has length 1 along some axes."""

    def drop(array: Array, probability: float, training: object) -> Array:
        if not training:
            return array
        ones = library(array).ones_like(array[shape])
        return array * dropout(ones, probability, True)

    return drop


dropped_keys = _with_mask_of((slice(None), slice(None), slice(0, 1)))
shared_by_heads = _with_mask_of((slice(None), slice(0, 1)))
shared_by_items = _with_mask_of((slice(0, 1),))
shared_by_both = _with_mask_of((slice(0, 1), slice(0, 1)))


def cut(array: Array) -> Array:
    """Cut an array off from the graph, where there is one."""
    return array if library(array) is np else array.detach()


def detached(logits: Array) -> Array:
    """Softmax of logits that are cut off from the graph."""
    return softmax(cut(logits))


def single(out: Array, weights: Array) -> tuple[Array, Array]:
    """Cast to float32."""
    kind = library(out).float32
    cast = (
        (lambda array: array.astype(kind)) if library(out) is np else (lambda array: array.to(kind))
    )
    return cast(out), cast(weights)


def single_inputs(query: Array, key: Array, value: Array) -> tuple[Array, Array, Array]:
    """Cast to float32 before anything is computed."""
    query, key = single(query, key)
    return query, key, single(value, value)[0]


def large_fill(logits: Array, allowed: Array) -> Array:
    """Fill with -1e9, which float16 cannot hold."""
    if library(logits) is np:
        return np.where(allowed, logits, -1e9)
    return logits.masked_fill(~allowed, -1e9)


def add_infinity(logits: Array, allowed: Array) -> Array:
    """Add -inf to blocked scores."""
    return logits + library(logits).where(allowed, 0.0, -float("inf")) * 1.0


def hidden_nan(logits: Array) -> Array:
    """Softmax of -inf rows, its NaN replaced afterwards."""
    return library(logits).nan_to_num(unguarded(logits), nan=0.0)


def compared_with_zero(logits: Array, mask: Array) -> Array:
    """Take a floating mask for a 0/1 mask."""
    return library(logits).where(mask == 0, -1e4, logits)


def boolean_only(mask: Array, logits: Array) -> Array:
    """Invert with ~, which turns 0 and 1 into -1 and -2, so that an integer mask blocks all."""
    return mask if mask.dtype in (bool, getattr(library(mask), "bool", bool)) else mask != mask


FLAWS = (
    scale(
        id="scale-by-d-model",
        title="scores divided by √d_model, the width of all heads together",
        parts={"scale": lambda logits, width: logits / (logits.shape[1] * width) ** 0.5},
        caught_by=("definition", "scale"),
        question="With h heads, which d stands under the root?",
        answer="The width of one head: each dot product sums d_head terms.",
    ),
    scale(
        id="scale-by-heads",
        title="scores divided by the root of the number of heads",
        parts={"scale": lambda logits, width: logits / logits.shape[1] ** 0.5},
        caught_by=("definition", "scale", "scale-effect"),
        question="With h heads, which d stands under the root?",
        answer="The width of one head: each dot product sums d_head terms.",
    ),
    normalise(
        id="softmax-over-heads",
        title="the softmax over the heads, as an implicit dim of 4-D scores gives",
        parts={"normalise": partial(softmax, axis=1)},
        also=({"normalise": partial(unguarded, axis=1)},),
        caught_by=("definition", "softmax-axis", "weights-valid"),
        question="nn.Softmax() without dim, on (B, H, Tq, Tk): which axis does it choose?",
        answer="Axis 1, the heads; always name the axis, dim=-1.",
    ),
    normalise(
        id="softmax-over-queries-and-keys",
        title="the softmax over queries and keys at once: a whole matrix of weights sums to 1",
        parts={"normalise": over_queries_and_keys},
        caught_by=("definition", "softmax-axis", "weights-valid"),
        question="The weights of one head are (Tq, Tk). Which of their sums are 1?",
        answer="Tq of them, one for every query, over its keys.",
    ),
    normalise(
        id="output-detached",
        hidden=True,
        title="an output cut off from the graph: nothing has a gradient",
        parts={"finish": lambda out, weights: (cut(out), cut(weights))},
        caught_by=("gradients",),
        question="Which operations cut the graph, and how would you notice?",
        answer="detach, .data, .item and numpy; compare gradients with a reference, not `is not None`.",
    ),
    normalise(
        id="softmax-detached",
        hidden=True,
        title="a softmax cut off from the graph: no gradient reaches Q and K",
        parts={"normalise": detached},
        caught_by=("gradients",),
        question="Which operations cut the graph, and how would you notice?",
        answer="detach, .data, .item and numpy; compare gradients with a reference, not `is not None`.",
    ),
    normalise(
        id="nan-hidden",
        hidden=True,
        title="NaN of empty rows hidden by nan_to_num: the gradients are still NaN",
        parts={"mask": add_infinity, "normalise": hidden_nan},
        caught_by=("masked-gradients",),
        question="nan_to_num makes the forward pass finite. What does the backward pass see?",
        answer="The NaN inside the softmax: 0 · NaN = NaN reaches every input.",
    ),
    mask(
        id="fill-overflows-half",
        hidden=True,
        title="a fill of -1e9, which float16 cannot hold",
        parts={"mask": large_fill},
        caught_by=("half-precision",),
        question="What is the largest float16, and what fill works for every dtype?",
        answer="65,504; torch.finfo(dtype).min, or -inf with a guard for empty rows.",
    ),
    mask(
        id="float-mask-compared",
        title="a floating mask compared with 0 instead of added",
        parts={"add_mask": compared_with_zero},
        caught_by=("additive-mask",),
        question="What does scaled_dot_product_attention do with a float mask?",
        answer="It adds it to the scaled scores; 0 keeps, -inf blocks.",
    ),
    mask(
        id="integer-mask-misread",
        title="an integer mask inverted with ~, so that it blocks everything",
        parts={"read_mask": boolean_only},
        caught_by=("mask-broadcast",),
        question="What is ~1 for an integer tensor?",
        answer="-2, which is true; compare with 0 instead: mask == 0.",
    ),
    aggregate(
        id="returns-float32",
        hidden=True,
        title="float32 returned whatever came in",
        parts={"finish": single},
        also=({"prepare": single_inputs, "finish": single},),
        caught_by=("dtype-preserved", "half-precision"),
        question="Why may the softmax run in float32, and what has to happen after it?",
        answer="For range and precision in half formats; cast back to the input's dtype.",
    ),
    dropping(
        id="dropout-always-on",
        random=True,
        title="dropout that ignores the training flag",
        parts={"drop_weights": always},
        caught_by=("dropout-off",),
    ),
    dropping(
        id="dropout-before-softmax",
        random=True,
        title="dropout on the scores, before the softmax",
        parts={"drop_logits": dropout, "drop_weights": no_dropout},
        caught_by=("dropout-place", "dropout-scale"),
    ),
    dropping(
        id="dropout-on-output",
        random=True,
        title="dropout on the output instead of the weights",
        parts={"drop_out": dropout, "drop_weights": no_dropout},
        caught_by=("dropout-place",),
    ),
    dropping(
        id="dropout-unscaled",
        random=True,
        title="dropout that does not divide by 1 - p",
        parts={"drop_weights": unscaled},
        caught_by=("dropout-scale",),
    ),
    dropping(
        id="dropout-keeps-p",
        random=True,
        title="dropout that keeps a weight with probability p instead of 1 - p",
        parts={"drop_weights": keeps_with_p},
        caught_by=("dropout-place", "dropout-scale"),
        question="dropout_p is 0.1. How many of ten weights stay, and what are they divided by?",
        answer="Nine, divided by 0.9: p is the probability of being dropped.",
    ),
    dropping(
        id="dropout-renormalised",
        random=True,
        title="rows normalised again after dropout, instead of divided by 1 - p",
        parts={"drop_weights": renormalised},
        caught_by=("dropout-scale",),
        question="Some weights of a row are dropped. Does the row still sum to 1?",
        answer="No, and it need not: divided by 1 - p it does so on average.",
    ),
    dropping(
        id="dropout-rate-fixed",
        random=True,
        title="dropout with a rate of its own: dropout_p has no effect",
        parts={"drop_weights": always_a_tenth},
        caught_by=("dropout-place", "dropout-scale"),
        question="Which argument decides how many weights are dropped?",
        answer="dropout_p, in every call.",
    ),
    dropping(
        id="dropout-of-keys",
        random=True,
        title="dropout of whole keys, the same for every query",
        parts={"drop_weights": dropped_keys},
        caught_by=("dropout-place",),
        question="Which weights does one number of the dropout mask decide about?",
        answer="One: F.dropout(weights) draws for every item, head, query and key.",
    ),
    dropping(
        id="dropout-shared-by-heads",
        random=True,
        title="one dropout mask for all heads",
        parts={"drop_weights": shared_by_heads},
        caught_by=("dropout-place",),
        question="Which weights does one number of the dropout mask decide about?",
        answer="One: F.dropout(weights) draws for every item, head, query and key.",
    ),
    dropping(
        id="dropout-shared-by-items",
        random=True,
        title="one dropout mask for all items of the batch",
        parts={"drop_weights": shared_by_items},
        also=({"drop_weights": shared_by_both},),
        caught_by=("dropout-place",),
        question="Which weights does one number of the dropout mask decide about?",
        answer="One: F.dropout(weights) draws for every item, head, query and key.",
    ),
    dropping(
        id="dropout-on-values-too",
        random=True,
        title="dropout on the output besides that on the weights",
        parts={"drop_out": dropout},
        caught_by=("dropout-place",),
    ),
    dropping(
        id="not-training-by-default",
        random=True,
        title="a default of training=False",
        parts={"default_training": lambda: False},
        caught_by=("dropout-place",),
        question="The brief's default is training=True. What does a call with dropout_p=0.1 do?",
        answer="It drops weights, unless training=False is passed.",
    ),
    dropping(
        id="dropout-missing",
        random=True,
        title="no dropout at all",
        parts={"drop_weights": no_dropout},
        caught_by=("dropout-place", "dropout-scale"),
    ),
)
