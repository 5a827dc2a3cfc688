"""Mistakes of shape and behaviour that no single stage owns."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from harness import Flaw, Stage
from specs.stages import library

Array = Any

aggregate = partial(Flaw, stage=Stage.AGGREGATE)
score = partial(Flaw, stage=Stage.SCORE)


def as_long_as_keys(out: Array, weights: Array) -> tuple[Array, Array]:
    """Give the output as many rows as there are keys."""
    rows = np.arange(weights.shape[-1]) % out.shape[-2]
    return out[..., rows, :], weights


def square_only(query: Array, key: Array, value: Array) -> tuple[Array, Array, Array]:
    """Take the length and the width of the query for those of K and V."""
    shape = query.shape
    return query.reshape(shape), key.reshape(shape), value.reshape(shape)


def in_memory_order(array: Array) -> Array:
    """Read an array as if it were contiguous."""
    if library(array) is np:
        return array.ravel(order="K").reshape(array.shape)
    return array.view(-1).view(array.shape)


def jitter(weights: Array, width: int) -> Array:
    """Drop out a tenth of the weights, always."""
    xp = library(weights)
    if xp is np:
        return weights * (np.random.default_rng().random(weights.shape) < 0.9) / 0.9
    return weights * (xp.rand_like(weights) < 0.9) / 0.9


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
        caught_by=("output-shape", "definition"),
        question="In cross-attention, how long is the output?",
        answer="As long as the queries: each query gets one mixture of the values.",
    ),
    aggregate(
        id="batch-dropped",
        title="the batch axis lost",
        parts={"finish": lambda out, weights: (out[0], weights[0])},
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
    score(
        id="assumes-contiguous",
        title="inputs read as if they were contiguous",
        parts={"prepare": lambda *inputs: tuple(in_memory_order(array) for array in inputs)},
        caught_by=("inputs-untouched",),
        question="What is the difference between view, reshape and contiguous().view?",
        answer="view needs compatible strides; a transposed tensor has none, reshape copies then.",
    ),
    aggregate(
        id="always-random",
        random=True,
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
