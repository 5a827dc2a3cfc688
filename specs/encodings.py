"""Positional encodings: the reference.

Sources give the encoding of Vaswani et al. 2017, section 3.5: sin and cos of pos / 10000^(2i/d).
The first document calls the encoding of position zero the zero vector; only its sines are zero,
its cosines are 1. It also says that the similarity of two rows keeps falling with their distance;
it does not fall monotonically (d = 16: 0.69 at 3, 0.81 at 6, 0.46 at 9, 0.67 at 12).
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def angles(length: int, width: int) -> Array:
    """pos / 10000^(2i/d), (length, width / 2)."""
    return np.arange(length)[:, None] / 10000.0 ** (2 * np.arange(width // 2)[None, :] / width)


def concatenated(length: int, width: int) -> Array:
    """Sines in the first half of the columns, cosines in the second: (length, width)."""
    return np.concatenate([np.sin(angles(length, width)), np.cos(angles(length, width))], axis=1)


def interleaved(length: int, width: int) -> Array:
    """Sine and cosine of each frequency side by side: (length, width)."""
    pairs = np.stack([np.sin(angles(length, width)), np.cos(angles(length, width))], axis=-1)
    return pairs.reshape(length, width)


def reversed_halves(length: int, width: int) -> Array:
    """Cosines in the first half of the columns, sines in the second: (length, width)."""
    return np.concatenate([np.cos(angles(length, width)), np.sin(angles(length, width))], axis=1)


LAYOUTS = {
    "sines, then cosines": concatenated,
    "sine and cosine interleaved": interleaved,
    "cosines, then sines": reversed_halves,
}
