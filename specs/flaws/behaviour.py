"""Mistakes of shape and behaviour that no single stage owns."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from harness import Flaw, Stage, Tensor
from specs.reference.stages import library

Array = Any

#: A weight so large can be told from rounding.
TELLING = 1e-3

aggregate = partial(Flaw, stage=Stage.AGGREGATE)
score = partial(Flaw, stage=Stage.SCORE)


def as_long_as_keys(out: Array, weights: Array) -> tuple[Array, Array]:
    """Give the output as many rows as there are keys."""
    rows = np.arange(weights.shape[-1]) % out.shape[-2]
    return out[..., rows, :], weights


def filled_up_to_keys(out: Array, weights: Array) -> tuple[Array, Array]:
    """Write the rows of the queries into an array of zeros with as many rows as there are keys."""
    rows = out.shape[-2]
    if rows > weights.shape[-1]:
        raise IndexError(f"row {rows - 1} is out of bounds")
    filled = library(out).zeros_like(out[..., :1, :]) * weights[..., :1, :].swapaxes(-1, -2)
    filled[..., :rows, :] = out
    return filled, weights


def first_item_alone(*inputs: Array) -> tuple[Array, ...]:
    """Take the first item, without its axis."""
    return tuple(array[:1].squeeze() for array in inputs)


def square_only(query: Array, key: Array, value: Array) -> tuple[Array, Array, Array]:
    """Take the length and the width of the query for those of K and V."""
    shape = query.shape
    return query.reshape(shape), key.reshape(shape), value.reshape(shape)


def in_memory_order(array: Array) -> Array:
    """Read an array as if it were contiguous."""
    return array.ravel(order="K").reshape(array.shape)


def viewed(array: Array) -> Array:
    """View a tensor flat, which torch refuses for one that is not contiguous."""
    if library(array) is not np:
        return array.view(-1).view(array.shape)
    if not array.flags.c_contiguous:
        raise ValueError("view needs contiguous memory")
    return array


def jitter(weights: Array, width: int) -> Array:
    """Drop out a tenth of the weights, always."""
    xp = library(weights)
    if xp is np:
        return weights * (np.random.default_rng().random(weights.shape) < 0.9) / 0.9
    return weights * (xp.rand_like(weights) < 0.9) / 0.9


def dropped(calls: Sequence[tuple[Any, Any]]) -> bool:
    """Tell whether all weights are 0 or the right ones times one factor, whatever the rate."""
    ratios = []
    for outs, expected in calls:
        if len(outs) < 2 or not isinstance(outs[1], Tensor) or isinstance(expected, str):
            return False
        if len(expected) < 2:  # the reference refuses these arguments as well
            return False
        weights, right = outs[1].values, expected[1].values
        if weights.shape != right.shape:
            return False
        told = right > TELLING
        ratios.append(weights[told] / right[told])
    return bool(ratios) and len(thinned(ratios)) == len(ratios)


def thinned(ratios: Sequence[Array]) -> list[Array]:
    """Return the arrays of ratios that are 0 or the commonest one, if that is above 1.

    None where no ratio is 0: then nothing was dropped.
    """
    kept = np.concatenate([of[of != 0] for of in ratios]) if ratios else np.zeros(0)
    if not kept.size:
        return []
    values, counts = np.unique(kept.round(3), return_counts=True)
    usual = values[counts.argmax()]
    thin = [of for of in ratios if (np.isclose(of, usual, rtol=1e-2) | (of == 0)).all()]
    return thin if usual > 1 and any((of == 0).any() for of in thin) else []


def fold_heads_first(out: Array, weights: Array) -> tuple[Array, Array]:
    """Reshape a (second axis, batch, …) buffer to (batch, second axis, …) without transposing."""
    return out.swapaxes(0, 1).reshape(out.shape), weights


def not_installed(query: Array, key: Array, value: Array) -> tuple[Array, Array, Array]:
    """Ask a library for the answer."""
    raise ImportError("torch is not available in this assignment")


FLAWS = (
    aggregate(
        id="output-of-key-length",
        title="an output with as many rows as there are keys",
        parts={"finish": as_long_as_keys},
        also=({"finish": filled_up_to_keys},),
        caught_by=("output-shape", "definition"),
        question="In cross-attention, how long is the output?",
        answer="As long as the queries: each query gets one mixture of the values.",
    ),
    aggregate(
        id="batch-dropped",
        title="the batch axis lost",
        parts={"finish": lambda out, weights: (out[0], weights[0])},
        also=({"prepare": first_item_alone},),
        caught_by=("output-shape", "weights-shape", "definition"),
        question="Which axis is the batch, and where in your code could it disappear?",
        answer="The first; squeeze, [0] and a softmax or sum over axis 0 lose it.",
    ),
    score(
        id="square-only",
        title="code that needs Tq = Tk and d_k = d_v",
        parts={"prepare": square_only},
        caught_by=("output-shape", "definition"),
        question="Which lengths may differ between Q, K and V?",
        answer="Tq from Tk, and d_v from d_k; Q and K share d_k, K and V share Tk.",
    ),
    aggregate(
        id="always-random",
        random=True,
        shows=dropped,
        title="dropout that is always on",
        parts={"scale_weights": jitter},
        caught_by=("determinism", "definition"),
        question="Two equal calls give different outputs. What in attention may be random, and when?",
        answer="Only dropout on the weights, and only in training.",
    ),
    aggregate(
        id="axes-folded",
        title="the first two axes folded in the wrong order at the end",
        parts={"finish": fold_heads_first},
        caught_by=("batch-independent", "definition"),
        question="What does (H, B, T, d).reshape(B, H, T, d) do to the items of the batch?",
        answer="It mixes them: the order in memory stays, only the labels change. Transpose first.",
    ),
    score(
        id="calls-a-library",
        title="a library call instead of the assignment",
        parts={"prepare": not_installed},
        caught_by=("from-scratch", "definition"),
        question="What does the library call do inside, step by step?",
        answer="Score, scale, mask, softmax over the keys, aggregate V.",
    ),
)


def halved_for_one_array(query: Array, key: Array, value: Array) -> tuple[Array, Array, Array]:
    """Compute something else where query and key are one array."""
    return (query / 2 if query is key else query), key, value


ONE_ARRAY = score(
    id="differs-for-one-array",
    hidden=True,  # the calls that outputs are compared by have three arrays
    title="another computation where Q and K are one array",
    parts={"prepare": halved_for_one_array},
    caught_by=("self-attention",),
    question="Your code asks whether q is k. What changes for self-attention?",
    answer="Nothing: self-attention is the same computation with the same tensor three times.",
)
ASSUMES_CONTIGUOUS = score(
    id="assumes-contiguous",
    title="inputs read as if they were contiguous",
    parts={"prepare": lambda *inputs: tuple(in_memory_order(array) for array in inputs)},
    caught_by=("inputs-untouched",),
    question="What is the difference between view, reshape and contiguous().view?",
    answer="view needs compatible strides; a transposed tensor has none, reshape copies then.",
)
#: The same in torch.
VIEWS_INPUTS = dataclasses.replace(
    ASSUMES_CONTIGUOUS, parts={"prepare": lambda *inputs: tuple(viewed(array) for array in inputs)}
)
