"""Positional encodings: the reference for sinusoids, rotations and biases.

Sources give the encoding of Vaswani et al. 2017, section 3.5: sin and cos of pos / 10000^(2i/d).
The first document calls the encoding of position zero the zero vector; only its sines are zero,
its cosines are 1. It also says that the similarity of two rows keeps falling with their distance;
it does not fall monotonically (d = 16: 0.69 at 3, 0.81 at 6, 0.46 at 9, 0.67 at 12).
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def frequencies(width: int) -> Array:
    """1 / 10000^(2i/d), (width / 2,)."""
    return 10000.0 ** (-2 * np.arange(width // 2) / width)


def angles(length: int, width: int) -> Array:
    """pos / 10000^(2i/d), (length, width / 2)."""
    return np.arange(length)[:, None] / 10000.0 ** (2 * np.arange(width // 2)[None, :] / width)


def halves(sines: Array, cosines: Array) -> Array:
    """Put the sines in the first half of the columns, the cosines in the second."""
    return np.concatenate([sines, cosines], axis=1)


def pairs(sines: Array, cosines: Array) -> Array:
    """Put the sine and the cosine of each frequency side by side."""
    return np.stack([sines, cosines], axis=-1).reshape(len(sines), -1)


def concatenated(length: int, width: int) -> Array:
    """Sines in the first half of the columns, cosines in the second: (length, width)."""
    return halves(np.sin(angles(length, width)), np.cos(angles(length, width)))


def interleaved(length: int, width: int) -> Array:
    """Sine and cosine of each frequency side by side: (length, width)."""
    return pairs(np.sin(angles(length, width)), np.cos(angles(length, width)))


def reversed_halves(length: int, width: int) -> Array:
    """Cosines in the first half of the columns, sines in the second: (length, width)."""
    return np.concatenate([np.cos(angles(length, width)), np.sin(angles(length, width))], axis=1)


LAYOUTS = {
    "sines, then cosines": concatenated,
    "sine and cosine interleaved": interleaved,
    "cosines, then sines": reversed_halves,
}


def rotary(x: Array, positions: Array) -> Array:
    """Turn each pair of neighbouring features by position · 10000^(-2i/d): (…, T, d).

    Su et al. 2021, section 3.2.2. No criterion tells this from ``rotary_halves``.
    """
    angle = np.asarray(positions)[:, None] * frequencies(x.shape[-1])
    first, second = x[..., 0::2], x[..., 1::2]
    turned = (
        first * np.cos(angle) - second * np.sin(angle),
        first * np.sin(angle) + second * np.cos(angle),
    )
    return np.stack(turned, axis=-1).reshape(x.shape)


def rotary_halves(x: Array, positions: Array) -> Array:
    """Turn the pairs (i, i + d/2): as right as ``rotary``, and written as often."""
    angle = np.asarray(positions)[:, None] * frequencies(x.shape[-1])
    first, second = np.split(x, 2, axis=-1)
    turned = (
        first * np.cos(angle) - second * np.sin(angle),
        first * np.sin(angle) + second * np.cos(angle),
    )
    return np.concatenate(turned, axis=-1)


def slopes(heads: int) -> Array:
    """2^(-8(h + 1)/H), as Press et al. 2022 have it where H is a power of 2: (heads,)."""
    return 2.0 ** (-8.0 * np.arange(1, heads + 1) / heads)


def distances(length: int) -> Array:
    """How far key j lies before query i, i - j: (length, length)."""
    return np.subtract.outer(np.arange(length), np.arange(length))


def alibi_bias(heads: int, length: int) -> Array:
    """-slope · distance, added to the scores of a causal attention: (heads, length, length)."""
    return -slopes(heads)[:, None, None] * np.abs(distances(length))


#: Other layouts -> how to put their columns in the order of ``concatenated``.
TO_CONCATENATED = {
    "sine and cosine interleaved": lambda table: np.concatenate(
        [table[:, 0::2], table[:, 1::2]], axis=1
    ),
    "cosines, then sines": lambda table: np.roll(table, table.shape[1] // 2, axis=1),
}


def _interleave(table: Array, first: int) -> Array:
    """Put two halves of columns side by side, number ``first`` first; an odd column stays last."""
    half = table.shape[1] // 2
    sides = [table[:, :half], table[:, half : 2 * half]]
    return np.concatenate([pairs(sides[first], sides[1 - first]), table[:, 2 * half :]], axis=1)


#: Other layouts -> how to put their columns in the order of ``interleaved``.
TO_INTERLEAVED = {
    "sines, then cosines": lambda table: _interleave(table, 0),
    "cosines, then sines": lambda table: _interleave(table, 1),
}
