"""Mistakes of a layer around the stages: its sources, its projections, its heads."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from harness import Expected, Flaw, Stage, Tensor, disjoint
from specs.flaws import behaviour, masking, scaling, softmax, training
from specs.flaws import heads as splitting
from specs.reference.layers import project
from specs.reference.stages import library

Array = Any

projection = partial(
    Flaw,
    stage=Stage.PROJECTION,
    question="Why do Q, K and V have projections of their own, and where must they be made?",
    answer="Asking, matching and carrying need different features; once, in __init__, registered.",
)
score = partial(Flaw, stage=Stage.SCORE)
mask = partial(Flaw, stage=Stage.MASK)
head = partial(Flaw, stage=Stage.HEADS)

#: So many numbers with one ratio are no accident.
MANY = 40

ASK_SOURCE = "In cross-attention, which source gives Q, which K and V, and how long is the output?"
ANSWER_SOURCE = "Q from the first, K and V from the other; one output row per query."
ASK_OUTPUT = "What does W_O do that the concatenation of the heads does not?"
ANSWER_OUTPUT = "It mixes what the heads found; without it each head writes to its own slice only."


def always(name: str, shared: str) -> Any:
    """Project with one projection where others were meant."""

    def shared_projection(x: Array, weights: Any, role: str) -> Array:
        return project(x, weights, name if role in shared else role)

    return shared_projection


def columns_dropped(calls: Sequence[tuple[Any, Any]]) -> bool:
    """Tell whether weights are 0 or the right ones times one factor, whatever the rate.

    A layer returns no weights, but some criteria choose values of 0 and 1, so that columns of the
    output are weights.
    """
    columns = [
        outs[0].values[..., place] / expected[0].values[..., place]
        for outs, expected in calls
        if len(outs) == 1 and isinstance(outs[0], Tensor) and not isinstance(expected, str)
        if outs[0].values.shape == expected[0].values.shape
        for place in np.flatnonzero(
            (expected[0].values > behaviour.TELLING).all(_leading(expected[0]))
        )
    ]
    return sum(ratios.size for ratios in behaviour.thinned(columns)) >= MANY


def _leading(expected: Expected) -> tuple[int, ...]:
    return tuple(range(expected.values.ndim - 1))


def fresh(x: Array, weights: Any, role: str) -> Array:
    """Project with a layer that is made for this call."""
    matrix = weights[f"W_{role}"]
    drawn = np.random.default_rng().normal(size=tuple(matrix.shape), scale=0.4)
    return x @ (drawn if library(x) is np else library(x).from_numpy(drawn).to(x.dtype))


def untrained(x: Array, weights: Any, role: str) -> Array:
    """Project with plain tensors, which nothing trains."""
    matrix, bias = weights[f"W_{role}"], weights[f"b_{role}"]
    return x @ matrix + bias if library(x) is np else x @ matrix.detach() + bias.detach()


def rectified(roles: str, x: Array, weights: Any, role: str) -> Array:
    """Project, and cut off what is negative."""
    y = project(x, weights, role)
    return y * (y > 0) if role in roles else y


def rectified_output(out: Array, query: Array) -> Array:
    """Cut off what is negative after the output projection."""
    return out * (out > 0)


def standardised(x: Array) -> Array:
    """LayerNorm as it starts: a gain of 1 and no shift."""
    centred = x - x.mean(-1)[..., None]
    return centred / ((centred**2).mean(-1)[..., None] + 1e-5) ** 0.5


def first_block(x: Array, weights: Any, role: str) -> Array:
    """Give every head the same small projection: the first of 3 heads, or what 3 divides off."""
    matrix, bias = weights[f"W_{role}"], weights[f"b_{role}"]
    total = matrix.shape[1]
    width = total // (3 if total % 3 == 0 else 1)
    apart = x.reshape(*x.shape[:-1], total // width, width)
    return (apart @ matrix[:width, :width] + bias[:width]).reshape(x.shape)


def of_one_head(roles: str, x: Array, weights: Any, role: str) -> Array:
    """Give every head the same small projection of all features: the first of 3 heads."""
    y = project(x, weights, role)
    total = y.shape[-1]
    width = total // (3 if total % 3 == 0 else 1)
    apart = y.reshape(*y.shape[:-1], total // width, width)
    return (apart[..., :1, :] + apart * 0).reshape(y.shape) if role in roles else y


def scale_input_in_place(query: Array, key: Array, value: Array) -> tuple[Array, Array, Array]:
    """Divide the caller's own array."""
    if not getattr(query, "requires_grad", False):
        query *= 0.5
    return query, key, value


def invert_in_place(mask: Array) -> Array:
    """Turn the caller's own mask round."""
    if library(mask) is np:
        return np.logical_not(np.logical_not(mask, out=mask))
    return ~mask.logical_not_()


def seen_twice(mask: Array) -> Array:
    """The same where True means "blocked"."""
    return ~invert_in_place(mask)


def root_of_inputs(query: Array, x: Array) -> Array:
    """Make up for √d_k, so that the scores end up divided by the root of the embedding's width."""
    return query * (query.shape[-1] / x.shape[-1]) ** 0.5


def mean_over_heads(weights: Array, width: int) -> Array:
    """Average the heads' weights, and use the average in every head."""
    xp = library(weights)
    mean = weights.mean(1, keepdims=True) if xp is np else weights.mean(1, keepdim=True)
    return mean + weights * 0


def project_heads_apart(x: Array, weights: Any) -> Array:
    """Apply a corner of W_O to every head on its own, as if the heads were never put together."""
    matrix, bias = weights["W_O"], weights["b_O"]
    total = matrix.shape[1]
    width = total // (3 if total % 3 == 0 else 1)
    apart = x.reshape(*x.shape[:-1], total // width, width)
    return (apart @ matrix[:width, :width]).reshape(x.shape) * 1 + bias


def _of(flaws: tuple[Flaw, ...], *left_out: str) -> tuple[Flaw, ...]:
    return tuple(flaw for flaw in flaws if flaw.id not in left_out)


#: A split that drops features does not fit the output projection, so that a layer refuses it.
SPLITTING = (
    *_of(splitting.FLAWS, "split-any-width"),
    head(
        id="width-not-divided",
        hidden=True,
        title="fewer features than d_model in all heads together, where these do not divide it",
        parts={"fit_heads": lambda width, count: width // count * count},
        caught_by=("head-split",),
        question="d_model = 10 and 4 heads: what should the constructor do?",
        answer="Refuse: 4 heads of 2 features leave two out, and nobody would notice.",
    ),
)

SOURCES = (
    score(
        id="values-of-query-source",
        title="V projected from the source of the queries",
        parts={"take": lambda query, key, value: (query, key, query)},
        caught_by=("self-and-cross", "definition"),
        question=ASK_SOURCE,
        answer=ANSWER_SOURCE,
    ),
    score(
        id="self-only",
        title="the other source ignored: always self-attention",
        parts={"take": lambda query, key, value: (query, query, query)},
        caught_by=("self-and-cross", "definition"),
        question=ASK_SOURCE,
        answer=ANSWER_SOURCE,
    ),
    score(
        id="sources-swapped",
        title="Q projected from the other source, K and V from the first",
        parts={"take": lambda query, key, value: (key, query, query)},
        caught_by=("self-and-cross", "output-shape", "definition"),
        question=ASK_SOURCE,
        answer=ANSWER_SOURCE,
    ),
    score(
        id="input-scaled-in-place",
        title="the caller's input divided in place",
        parts={"take": scale_input_in_place},
        caught_by=("inputs-untouched", "definition"),
        question="Your layer is called twice with the same x. What does the second call return?",
        answer="Something else: `x /= …` changed the caller's array; write `x = x / …`.",
    ),
    score(
        id="input-viewed",
        title="inputs read as if they were contiguous",
        parts={"take": lambda *inputs: tuple(behaviour.viewed(array) for array in inputs)},
        caught_by=("inputs-untouched",),
        question="What is the difference between view, reshape and contiguous().view?",
        answer="view needs compatible strides; a transposed tensor has none, reshape copies then.",
    ),
)

PROJECTIONS = (
    projection(
        id="shared-projection",
        title="one projection for Q, K and V",
        parts={"project": always("Q", "QKV")},
        caught_by=("separate-projections", "definition"),
    ),
    projection(
        id="keys-project-values",
        title="the projection of the keys used for the values too",
        parts={"project": always("K", "KV")},
        caught_by=("separate-projections", "definition"),
    ),
    projection(
        id="projection-in-forward",
        title="projections made anew in every forward",
        parts={"project": fresh},
        caught_by=("separate-projections", "determinism", "definition"),
    ),
    projection(
        id="projection-untrained",
        hidden=True,
        title="projections that are no parameters: nothing trains them",
        parts={"project": untrained},
        caught_by=("separate-projections", "gradients"),
    ),
)

#: One projection's shapes differ in a single-head layer, so that it cannot stand in for all.
QUERY_PROJECTS_KEYS = projection(
    id="queries-project-keys",
    title="the projection of the queries used for the keys too",
    parts={"project": always("Q", "QK")},
    caught_by=("separate-projections", "definition"),
)

HEADS = (
    head(
        id="projection-per-head-shared",
        title="one small projection used for every head",
        parts={"project": first_block},
        caught_by=("heads-independent", "multi-head-parity", "definition"),
        question="With D = 12 and 3 heads, how many numbers does W_Q have, and why?",
        answer="144: each head has its own 12 × 4 slice; a shared 4 × 4 one finds one relation.",
    ),
    head(
        id="one-query-for-all-heads",
        title="one query projection shared by all heads",
        parts={"project": partial(of_one_head, "Q")},
        caught_by=("heads-independent", "multi-head-parity", "definition"),
        question="With D = 12 and 3 heads, how many numbers does W_Q have, and why?",
        answer="144: each head has its own 12 × 4 slice, and asks something of its own.",
    ),
    head(
        id="multi-query",
        title="one key and value head for all heads (multi-query attention)",
        parts={"project": partial(of_one_head, "KV")},
        also=(
            {"project": partial(of_one_head, "K")},
            {"project": partial(of_one_head, "V")},
        ),
        caught_by=("heads-independent", "multi-head-parity", "definition"),
        question="What does multi-query attention save, and is it what was asked?",
        answer="Cache: one head of keys and values instead of h. The brief asks for h of each.",
    ),
    head(
        id="weights-averaged-over-heads",
        title="the heads' weights averaged",
        parts={"scale_weights": mean_over_heads},
        caught_by=("heads-independent", "head-split", "definition"),
        question="What is lost when all heads use the same weights?",
        answer="Their reason: each head attends to something else.",
    ),
    projection(
        id="no-output-projection",
        title="no output projection, or one that is made and not applied",
        parts={"project_out": lambda x, weights: x},
        caught_by=("output-projection", "multi-head-parity", "definition"),
        question=ASK_OUTPUT,
        answer=ANSWER_OUTPUT,
    ),
    projection(
        id="output-projection-per-head",
        title="the output projection applied to each head, before they are put together",
        parts={"project_out": project_heads_apart},
        caught_by=("output-projection", "multi-head-parity", "definition"),
        question=ASK_OUTPUT,
        answer=ANSWER_OUTPUT,
    ),
    projection(
        id="output-projected-twice",
        title="the output projection applied twice",
        parts={"project_out": lambda x, weights: project(project(x, weights, "O"), weights, "O")},
        caught_by=("output-projection", "multi-head-parity", "definition"),
        question=ASK_OUTPUT,
        answer=ANSWER_OUTPUT,
    ),
)

SCALE_BY_INPUTS = Flaw(
    id="scale-by-embedding",
    title="scores divided by the root of the embedding's width, not of d_k",
    stage=Stage.SCALE,
    parts={"adapt_query": root_of_inputs},
    caught_by=("scale", "definition"),
    question="The embedding is 12 wide, queries and keys 4. Which d stands under the root?",
    answer="4: a score is a sum of d_k products, whatever was projected.",
)

RECTIFIED = projection(
    id="relu-on-projections",
    title="a ReLU on the projections",
    parts={"project": partial(rectified, "QKV")},
    also=tuple({"project": partial(rectified, roles)} for roles in ("Q", "QK", "V", "KV")),
    caught_by=("definition",),
    question="What can a score of two rectified vectors not be?",
    answer="Negative: no query could turn away from a key. The projections are linear.",
)

#: With an output projection, which may be rectified as well, or alone.
RECTIFIED_WITH_OUTPUT = dataclasses.replace(
    RECTIFIED,
    also=(
        *RECTIFIED.also,
        {"project": partial(rectified, "QKV"), "finish_layer": rectified_output},
        {"finish_layer": rectified_output},
    ),
)

#: A residual or a norm belongs to the block around the attention.
INSIDE = (
    projection(
        id="residual-inside",
        title="the input added to the output, which the brief leaves to the block",
        parts={"finish_layer": lambda out, query: out + query},
        caught_by=("definition",),
        question="Where in a Transformer is the residual added, and where is it not?",
        answer="In the block, around the whole sublayer; attention alone returns what it found.",
    ),
    projection(
        id="residual-and-norm-inside",
        title="the input added and the sum normalised, which the brief leaves to the block",
        parts={"finish_layer": lambda out, query: standardised(out + query)},
        also=({"finish_layer": lambda out, query: standardised(out)},),
        caught_by=("definition",),
        question="Where in a Transformer are residual and norm, and where are they not?",
        answer="In the block, around the whole sublayer; attention alone returns what it found.",
    ),
)

#: Layers that ask whether their sources are one tensor.
ONE_TENSOR = dataclasses.replace(
    behaviour.ONE_ARRAY,
    title="another computation where the sources are one tensor",
    parts={"take": behaviour.halved_for_one_array},
)

IN_HEADS_IDS = (
    "scale-by-d-model",
    "scale-by-heads",
    "softmax-over-heads",
    "softmax-over-queries-and-keys",
)

#: What the five stages can do wrong, in layers as anywhere. An in-place scale changes projected
#: queries only, no caller's array, and gives the right numbers.
STAGES = (
    *_of(scaling.FLAWS, "query-scaled-in-place"),
    *_of(softmax.FLAWS, "weights-returned-transposed", "output-through-softmax"),
    *(
        dataclasses.replace(flaw, shows=columns_dropped) if flaw.shows else flaw
        for flaw in behaviour.FLAWS
    ),
    *_of(
        training.FLAWS,
        *IN_HEADS_IDS,
        "float-mask-compared",
        "integer-mask-misread",
        "dropout-always-on",
        "dropout-before-softmax",
        "dropout-on-output",
        "dropout-unscaled",
        "dropout-missing",
        "dropout-keeps-p",
        "dropout-renormalised",
        "dropout-rate-fixed",
        "dropout-of-keys",
        "dropout-shared-by-heads",
        "dropout-shared-by-items",
        "dropout-on-values-too",
        "not-training-by-default",
    ),
)
IN_HEADS = tuple(flaw for flaw in training.FLAWS if flaw.id in IN_HEADS_IDS)


def _shown(flaws: tuple[Flaw, ...]) -> tuple[Flaw, ...]:
    """Return flaws as a layer without a mask argument shows them: in its numbers."""
    return tuple(dataclasses.replace(flaw, caught_by=("definition",)) for flaw in flaws)


#: A layer that is causal by itself has a mask, too; one that it ignores is another flaw.
CAUSAL_MASKS = _shown(
    tuple(
        flaw
        for flaw in masking.ATTENTION
        if flaw.id in ("mask-after-softmax", "fill-zero", "fill-minus-one", "mask-added")
    )
) + tuple(
    dataclasses.replace(flaw, caught_by=("stable-softmax",))
    for flaw in masking.ATTENTION
    if flaw.id in ("fill-minus-hundred", "fill-minus-999")
)
NOT_MOVED = splitting.NOT_MOVED
SPLITTING_SHOWN = _shown(
    (*(flaw for flaw in SPLITTING if flaw.id != "width-not-divided"), NOT_MOVED)
)

POLARITY = masking.POLARITY
#: Masks of a layer in which True means "blocked", each in full.
BLOCKING = (
    *_of(masking.ATTENTION, "mask-not-broadcast", "polarity-inverted"),
    dataclasses.replace(POLARITY, title="the mask read the other way round: True keeps"),
    mask(
        id="mask-changed-in-place",
        hidden=True,
        title="the caller's own mask turned round in place",
        parts={"accept_mask": seen_twice},
        caught_by=("inputs-untouched",),
        question="Two layers get the same mask. What does the second one see after yours?",
        answer="The opposite: methods that end in _ change the argument, which is the caller's.",
    ),
)
KEEPING = (
    *masking.ATTENTION,
    masking.HEADS_MAJOR,
    mask(
        id="mask-changed-in-place",
        hidden=True,
        title="the caller's own mask turned round in place",
        parts={"accept_mask": invert_in_place},
        caught_by=("inputs-untouched",),
        question="Two layers get the same mask. What does the second one see after yours?",
        answer="The opposite: methods that end in _ change the argument, which is the caller's.",
    ),
)


def views(flaws: tuple[Flaw, ...]) -> tuple[Flaw, ...]:
    """Return what was reported most to come together: heads split and merged by view."""
    known = {flaw.id: flaw for flaw in flaws}
    return known["split-by-reshape"], known["merge-by-reshape"]


def composites(flaws: tuple[Flaw, ...]) -> tuple[tuple[Flaw, ...], ...]:
    """Return what was reported to come together: heads split and merged by view, and more.

    The public reports are of ``view`` for the split and the merge, often for Kᵀ as well, together
    with a scale by another width, a softmax without ``dim`` and a mask without effect.
    """
    known = {flaw.id: flaw for flaw in flaws}
    both = views(flaws)
    others = (
        tuple(flaw for flaw in flaws if flaw.stage is Stage.SCALE and "prepare" not in flaw.parts),
        tuple(known[id] for id in ("mask-ignored", "fill-tiny", "fill-zero") if id in known),
        (known["keys-reshaped"],),
        (known["softmax-over-heads"],),
    )
    choices = itertools.product(*((None, *of_stage) for of_stage in others))
    return tuple(
        (*both, *chosen)
        for one in choices
        if disjoint(chosen := tuple(flaw for flaw in one if flaw is not None))
    )
