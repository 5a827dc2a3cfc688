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


def merge_permuted(axes: tuple[int, int, int, int], x: Array) -> Array:
    """Put items, heads and tokens in another order before the reshape, and read them as usual."""
    batch, count, length, width = x.shape
    return (x.permute(axes) if hasattr(x, "permute") else x.transpose(axes)).reshape(
        batch, length, count * width
    )


def merge_interleaved(x: Array) -> Array:
    """Put the heads' features side by side, feature by feature."""
    batch, count, length, width = x.shape
    return x.swapaxes(1, 2).swapaxes(2, 3).reshape(batch, length, count * width)


def merge_items_for_heads(x: Array) -> Array:
    """Take the first axis for the heads and the second for the items."""
    batch, count, length, width = x.shape
    apart = x.reshape(count, batch, length, width).swapaxes(0, 1)
    return apart.swapaxes(1, 2).reshape(batch, length, count * width)


def split_unmoved(x: Array, count: int) -> Array:
    """Leave the heads behind the tokens: (B, T, h, d)."""
    batch, length, width = x.shape
    return x.reshape(batch, length, count, width // count)


def merge_unmoved(x: Array) -> Array:
    """Put (B, T, h, d) together."""
    return x.reshape(*x.shape[:2], -1)


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
        also=tuple(
            {"merge_heads": partial(merge_permuted, axes)}
            # heads before the items, and tokens between or before them
            for axes in ((1, 0, 2, 3), (1, 2, 0, 3), (2, 1, 0, 3))
        ),
        caught_by=("head-split",),
    ),
    heads(
        id="merge-interleaved",
        title="heads merged feature by feature instead of head by head",
        parts={"merge_heads": merge_interleaved},
        caught_by=("head-split",),
    ),
    heads(
        id="merge-items-for-heads",
        title="items and heads taken for one another when the heads are merged",
        parts={"merge_heads": merge_items_for_heads},
        caught_by=("head-split",),
        question="(B·h, T, d) comes back from your product. How are its first rows numbered?",
        answer="As they were folded: item by item, so view(B, h, …); view(h, B, …) mixes items.",
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

#: In a layer, which splits and merges by itself.
NOT_MOVED = heads(
    id="heads-not-moved",
    title="heads not moved before the product: (B, T, h, d) instead of (B, h, T, d)",
    parts={"split_heads": split_unmoved, "merge_heads": merge_unmoved},
    caught_by=("head-split", "definition"),
    question="Q and K are (B, T, h, d). What does Q @ K.transpose(-2, -1) match with what?",
    answer="Heads with heads of one token: transpose(1, 2) first, so that tokens meet tokens.",
)
