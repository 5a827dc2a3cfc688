"""Heads: the reference for splitting and merging."""

from __future__ import annotations

from typing import Any

Array = Any


def split_heads(x: Array, heads: int) -> Array:
    """(B, T, D) -> (B, heads, T, D / heads): head i is the i-th slice of the features."""
    batch, length, width = x.shape
    if width % heads:
        raise ValueError(f"width is {width}, expected a multiple of {heads} heads")
    return x.reshape(batch, length, heads, width // heads).swapaxes(1, 2)


def merge_heads(x: Array) -> Array:
    """(B, heads, T, d) -> (B, T, heads · d): undo ``split_heads``."""
    batch, heads, length, width = x.shape
    return x.swapaxes(1, 2).reshape(batch, length, heads * width)
