"""Mistakes in sinusoidal positional encodings, of which most are invisible at d = 2."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from harness import Flaw, Stage

Array = np.ndarray[Any, Any]

encoding = partial(
    Flaw,
    stage=Stage.ENCODING,
    question="Why do a sine and a cosine share one frequency, and what are the wavelengths?",
    answer="So that a shift is a rotation and PE(p)·PE(p+k) depends on k only; 2π … 10000·2π.",
)


def table(angle: Callable[[Array, Array, int], tuple[Array, Array]]) -> Callable[[int, int], Array]:
    """Make an encoding of two angles: that of the sines and that of the cosines."""

    def positional_encoding(length: int, width: int) -> Array:
        pos, i = np.arange(length)[:, None], np.arange(width // 2)[None, :]
        of_sines, of_cosines = angle(pos, i, width)
        return np.concatenate([np.sin(of_sines), np.cos(of_cosines)], axis=1)

    return positional_encoding


def one_angle(angle: Callable[[Array, Array, int], Array]) -> dict[str, Any]:
    """The same angle for sines and cosines."""
    return {"positional_encoding": table(lambda pos, i, d: (angle(pos, i, d),) * 2)}


def random_table(length: int, width: int) -> Array:
    """A table of random numbers, as a learned embedding starts."""
    return np.random.default_rng(length * 1000 + width).normal(size=(length, width))


def along_width(length: int, width: int) -> Array:
    """Count positions along the features and frequencies along the rows."""
    pos, i = np.arange(width // 2)[None, :], np.arange(length)[:, None]
    angle = pos / 10000.0 ** (2 * i / width)
    return np.concatenate([np.sin(angle), np.cos(angle)], axis=1)


FLAWS = (
    encoding(
        id="pe-exponent-doubled",
        title="the exponent doubled: 2·i with an i that is already even",
        parts=one_angle(lambda pos, i, d: pos / 10000.0 ** (4 * i / d)),
        caught_by=("pe-values",),
    ),
    encoding(
        id="pe-exponent-halved",
        title="the exponent i/d where 2i/d belongs",
        parts=one_angle(lambda pos, i, d: pos / 10000.0 ** (i / d)),
        caught_by=("pe-values",),
    ),
    encoding(
        id="pe-base",
        title="base 1000 instead of 10000",
        parts=one_angle(lambda pos, i, d: pos / 1000.0 ** (2 * i / d)),
        caught_by=("pe-values",),
    ),
    encoding(
        id="pe-own-exponent-for-cosine",
        title="cosines with an exponent of their own, (2i + 1)/d",
        parts={
            "positional_encoding": table(
                lambda pos, i, d: (
                    pos / 10000.0 ** (2 * i / d),
                    pos / 10000.0 ** ((2 * i + 1) / d),
                )
            )
        },
        caught_by=("pe-values",),
    ),
    encoding(
        id="pe-integer-division",
        title="an exponent cut to a whole number by integer division",
        parts=one_angle(lambda pos, i, d: pos / 10000.0 ** (2 * i // d)),
        caught_by=("pe-values",),
    ),
    encoding(
        id="pe-precedence",
        title="-log(10000) / d // 2: the floor taken of the whole fraction",
        parts=one_angle(lambda pos, i, d: pos * np.exp(2 * i * (-np.log(10000.0) / d // 2))),
        caught_by=("pe-values",),
    ),
    encoding(
        id="pe-transposed",
        title="the encoding transposed, (d, max_len)",
        parts={"positional_encoding": lambda length, width: one_angle(
            lambda pos, i, d: pos / 10000.0 ** (2 * i / d))["positional_encoding"](length, width).T},
        caught_by=("pe-shape", "pe-values"),
    ),  # fmt: skip
    encoding(
        id="pe-random",
        title="a random table in place of the sinusoids",
        parts={"positional_encoding": random_table},
        caught_by=("pe-values", "pe-distance"),
    ),
    encoding(
        id="pe-wrong-axis",
        title="positions counted along the features",
        parts={"positional_encoding": along_width},
        caught_by=("pe-values", "pe-distance"),
    ),
)
