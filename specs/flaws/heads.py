"""Mistakes in splitting and merging heads."""

from __future__ import annotations

from functools import partial
from typing import Any

from harness import Flaw, Stage
from specs.reference.heads import split_heads

Array = Any

heads = partial(
    Flaw,
    stage=Stage.HEADS,
    question="x[b, t] is one token of width D. Where do its numbers lie after your split, and why "
    "does the shape not tell?",
    answer="In [b, :, t, :], one slice per head; reshaping (B,T,D) to (B,h,T,d) directly gives the "
    "same shape and mixes positions. Splitting and merging must give x back.",
)


def split_by_reshape(x: Array, count: int) -> Array:
    """Reshape (B, T, D) straight to (B, h, T, d)."""
    batch, length, width = x.shape
    return x.reshape(batch, count, length, width // count)


def split_interleaved(x: Array, count: int) -> Array:
    """Give head i every h-th feature."""
    batch, length, width = x.shape
    return x.reshape(batch, length, width // count, count).swapaxes(1, 3).swapaxes(2, 3)


def merge_by_reshape(x: Array) -> Array:
    """Reshape (B, h, T, d) straight to (B, T, D)."""
    batch, count, length, width = x.shape
    return x.reshape(batch, length, count * width)


def merge_wrong_axes(x: Array) -> Array:
    """Transpose the last two axes before the reshape."""
    batch, count, length, width = x.shape
    return x.swapaxes(2, 3).reshape(batch, length, count * width)


def split_any_width(x: Array, count: int) -> Array:
    """Drop the features that do not fit."""
    return split_heads(x[..., : x.shape[-1] // count * count], count)


FLAWS = (
    heads(
        id="split-by-reshape",
        title="heads split by a reshape alone, without the transpose",
        parts={"split_heads": split_by_reshape},
        caught_by=("head-split",),
    ),
    heads(
        id="split-interleaved",
        title="heads that take every h-th feature instead of a slice",
        parts={"split_heads": split_interleaved},
        caught_by=("head-split",),
    ),
    heads(
        id="merge-by-reshape",
        title="heads merged by a reshape alone, without transposing back",
        parts={"merge_heads": merge_by_reshape},
        caught_by=("head-split",),
    ),
    heads(
        id="merge-wrong-axes",
        title="heads merged after transposing the wrong axes",
        parts={"merge_heads": merge_wrong_axes},
        caught_by=("head-split",),
    ),
    heads(
        id="split-any-width",
        title="a split that silently drops features when the width is no multiple of the heads",
        parts={"split_heads": split_any_width},
        caught_by=("head-split",),
        question="d_model = 10 and 4 heads: what should your function do?",
        answer="Refuse: the heads would not cover the features.",
    ),
)
