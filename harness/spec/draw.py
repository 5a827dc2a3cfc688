"""Inputs of one check, drawn from the run's seed and the check's id."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

Floats = np.ndarray[Any, Any]


class Draw:
    """A source of inputs that nobody can know before the run.

    Two checks never share a stream, and a check draws the same inputs whatever runs before it.
    With ``heads_alike`` the masks of (B, H, Tq, Tk) are the same for all heads of an item.
    """

    def __init__(self, seed: str, check_id: str, *, heads_alike: bool = False) -> None:
        digest = hashlib.sha256(f"{seed}/{check_id}".encode()).digest()
        self._random = np.random.default_rng(int.from_bytes(digest[:16], "big"))
        self._heads_alike = heads_alike

    def normal(self, *shape: int, scale: float = 1.0, dtype: str = "f8") -> Floats:
        """Draw N(0, scale²)."""
        return (scale * self._random.standard_normal(shape)).astype(dtype)

    def uniform(
        self, *shape: int, low: float = 0.0, high: float = 1.0, dtype: str = "f8"
    ) -> Floats:
        """Draw from [low, high)."""
        return self._random.uniform(low, high, shape).astype(dtype)

    def integers(self, *shape: int, low: int, high: int) -> Floats:
        """Draw whole numbers of low … high - 1, as int64."""
        return self._random.integers(low, high, shape)

    def permutation(self, length: int) -> Floats:
        """Draw an order of 0 … length - 1 that is not the identity."""
        order = self._random.permutation(length)
        return order if (order != np.arange(length)).any() else order[::-1].copy()

    def mask(self, *shape: int, keep: float = 0.6) -> Floats:
        """Draw a boolean mask, True = may attend, in which every row keeps and blocks some key.

        Rows have at least two keys; the key that is kept and the one that is blocked are drawn too.
        """
        mask = self._random.random(shape) < keep
        keys = shape[-1]
        kept = self._random.integers(0, keys, shape[:-1])
        blocked = (kept + self._random.integers(1, keys, shape[:-1])) % keys
        np.put_along_axis(mask, blocked[..., None], False, axis=-1)
        np.put_along_axis(mask, kept[..., None], True, axis=-1)
        if self._heads_alike and len(shape) == 4:
            mask[:] = mask[:, :1]
        return mask
