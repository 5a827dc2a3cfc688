"""Inputs of one check, drawn from the run's seed and the check's id."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

Floats = np.ndarray[Any, Any]


class Draw:
    """A source of inputs that nobody can know before the run.

    Two checks never share a stream, and a check draws the same inputs whatever runs before it.
    With ``heads_alike`` the masks of (B, H, Tq, Tk) are the same for all heads of an item. Without
    ``masks`` there is no parameter for one, and with fewer ``sources`` one text serves for several.
    """

    masks = True
    sources = 3

    def __init__(
        self,
        seed: str,
        check_id: str,
        *,
        heads_alike: bool = False,
        masks: bool = True,
        sources: int = 3,
    ) -> None:
        digest = hashlib.sha256(f"{seed}/{check_id}".encode()).digest()
        self._random = np.random.default_rng(int.from_bytes(digest[:16], "big"))
        self._heads_alike = heads_alike
        self.masks = masks
        self.sources = sources

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


class DrawnOnce:
    """The draws of one check, which every submission of a batch is given again.

    Arrays are drawn when the first submission needs them, and given as copies. Beyond
    ``bytes_cap`` nothing is kept: large arrays are drawn each time.
    """

    bytes_cap = 4 << 20

    def __init__(self, seed: str, check_id: str, *, heads_alike: bool = False) -> None:
        self._drawn: list[tuple[Any, Floats]] = []
        self._begun = seed, check_id, heads_alike
        self._source = self.alone(0)
        self._bytes = 0

    def again(self) -> Draw:
        """Return a draw that begins from the first."""
        return _Again(self)

    def draw(self, place: int, asked: Any) -> Floats | None:
        """Return what was asked for at a place, or None where it cannot be had from here."""
        if place < len(self._drawn):
            asked_then, array = self._drawn[place]
            return array.copy() if asked_then == asked else None
        if self._bytes > self.bytes_cap:
            return None
        array = _drawn(self._source, asked)
        self._bytes += array.nbytes
        self._drawn.append((asked, array))
        return array.copy()

    def alone(self, count: int) -> Draw:
        """Return a draw of its own, after the first ``count`` arrays."""
        seed, check_id, heads_alike = self._begun
        draw = Draw(seed, check_id, heads_alike=heads_alike)
        for asked, _ in self._drawn[:count]:
            _drawn(draw, asked)
        return draw


class _Again(Draw):
    """Gives what was drawn before; draws by itself as soon as it is asked for something else."""

    def __init__(self, drawn: DrawnOnce) -> None:
        self._drawn = drawn
        self._place = 0
        self._alone: Draw | None = None

    def normal(self, *shape: int, scale: float = 1.0, dtype: str = "f8") -> Floats:
        return self._next("normal", shape, scale=scale, dtype=dtype)

    def uniform(
        self, *shape: int, low: float = 0.0, high: float = 1.0, dtype: str = "f8"
    ) -> Floats:
        return self._next("uniform", shape, low=low, high=high, dtype=dtype)

    def integers(self, *shape: int, low: int, high: int) -> Floats:
        return self._next("integers", shape, low=low, high=high)

    def permutation(self, length: int) -> Floats:
        return self._next("permutation", (length,))

    def mask(self, *shape: int, keep: float = 0.6) -> Floats:
        return self._next("mask", shape, keep=keep)

    def _next(self, name: str, shape: tuple[int, ...], **named: Any) -> Floats:
        asked = (name, shape, named)
        if self._alone is None:
            array = self._drawn.draw(self._place, asked)
            if array is not None:
                self._place += 1
                return array
            self._alone = self._drawn.alone(self._place)
        return _drawn(self._alone, asked)


def _drawn(draw: Draw, asked: Any) -> Floats:
    name, shape, named = asked
    return getattr(draw, name)(*shape, **named)  # type: ignore[no-any-return]
