"""Splitting into heads and merging them again."""

from __future__ import annotations

from harness import Facet, Judge, Stage, criterion
from specs.reference import heads as reference

#: Batch, length, width, heads: all different, and one with length = head width = heads.
SIZES = ((2, 5, 12, 3), (3, 4, 16, 4), (1, 2, 4, 2))


@criterion(
    facet=Facet.SHAPE,
    stage=Stage.HEADS,
    hint="reshape(B, T, h, D // h), then transpose(0, 2, 1, 3); the way back in the opposite order. "
    "A reshape alone keeps the shape and mixes the positions.",
    question="x[b, t] is one token of width D. Where do its numbers lie after your split, and why "
    "does the shape not tell?",
    answer="In [b, :, t, :], one slice per head. A reshape straight to (B, h, T, d) has the same "
    "shape and mixes the positions.",
)
def head_split(split_heads, merge_heads, draw, judge: Judge):
    """Head i is the i-th slice of the features, element by element, and merging undoes the split.

    A width that the heads do not divide is refused with any exception.
    """
    drawn = [(draw.normal(batch, length, width), heads) for batch, length, width, heads in SIZES]
    apart = [reference.split_heads(x, heads) for x, heads in drawn]
    # Both are called before either is judged, so that what is wrong with both is seen.
    split, merged = split_heads.each(drawn), merge_heads.each((heads,) for heads in apart)
    for returned, heads in zip(split, apart):
        judge.exactly(returned["heads"], heads, "heads")
    for returned, heads in zip(merged, apart):
        judge.exactly(returned["merged"], reference.merge_heads(heads), "merged")
    x = draw.normal(2, 3, 10)
    judge.require(
        split_heads.error(x, 4) is not None, "split_heads(x, 4) of width 10 raises nothing"
    )
