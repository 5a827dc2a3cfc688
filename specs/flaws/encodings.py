"""Mistakes in positional encodings, of which most are invisible at d = 2."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from harness import Flaw, Stage
from specs.reference import encodings

Array = np.ndarray[Any, Any]
Join = Callable[[Array, Array], Array]  #: sines and cosines -> the encoding, in some layout

encoding = partial(
    Flaw,
    stage=Stage.ENCODING,
    question="Why do a sine and a cosine share one frequency, and what are the wavelengths?",
    answer="So that a shift is a rotation and PE(p)·PE(p+k) depends on k only; 2π … 10000·2π.",
)


def two_angles(join: Join, angle: Callable[[Array, Array, int], tuple[Array, Array]]) -> Any:
    """Make an encoding of two angles: that of the sines and that of the cosines."""

    def positional_encoding(length: int, width: int) -> Array:
        pos, i = np.arange(length)[:, None], np.arange(width // 2)[None, :]
        of_sines, of_cosines = angle(pos, i, width)
        return join(np.sin(of_sines), np.cos(of_cosines))

    return MappingProxyType({"positional_encoding": positional_encoding})


def one_angle(join: Join, angle: Callable[[Array, Array, int], Array]) -> Any:
    """The same angle for sines and cosines."""
    return two_angles(join, lambda pos, i, d: (angle(pos, i, d),) * 2)


def usual(join: Join) -> Callable[[int, int], Array]:
    """The right encoding."""
    parts = one_angle(join, lambda pos, i, d: pos / 10000.0 ** (2 * i / d))
    return parts["positional_encoding"]  # type: ignore[no-any-return]


def sines_and_cosines(length: int, width: int) -> tuple[Array, Array]:
    """Sines and cosines of the right angles, (max_len, d / 2) each."""
    angles = encodings.angles(length, width)
    return np.sin(angles), np.cos(angles)


def random_table(length: int, width: int) -> Array:
    """A table of random numbers, as a learned embedding starts."""
    return np.random.default_rng(length * 1000 + width).normal(size=(length, width))


def along_width(join: Join, length: int, width: int) -> Array:
    """Count positions along the features and frequencies along the rows."""
    pos, i = np.arange(width // 2)[None, :], np.arange(length)[:, None]
    angle = pos / 10000.0 ** (2 * i / width)
    return join(np.sin(angle), np.cos(angle))


def sinusoids(join: Join) -> tuple[Flaw, ...]:
    """Return the mistakes in the formula, in one layout."""
    one, two, right = partial(one_angle, join), partial(two_angles, join), usual(join)
    return (
        encoding(
            id="pe-exponent-doubled",
            title="the exponent doubled: 2·i with an i that is already even",
            parts=one(lambda pos, i, d: pos / 10000.0 ** (4 * i / d)),
            caught_by=("pe-values",),
        ),
        encoding(
            id="pe-exponent-halved",
            title="the exponent i/d where 2i/d belongs",
            parts=one(lambda pos, i, d: pos / 10000.0 ** (i / d)),
            caught_by=("pe-values",),
        ),
        encoding(
            id="pe-base",
            title="base 1000 instead of 10000",
            parts=one(lambda pos, i, d: pos / 1000.0 ** (2 * i / d)),
            caught_by=("pe-values",),
        ),
        encoding(
            id="pe-own-exponent-for-cosine",
            title="cosines with an exponent of their own, (2i + 1)/d",
            parts=two(
                lambda pos, i, d: (
                    pos / 10000.0 ** (2 * i / d),
                    pos / 10000.0 ** ((2 * i + 1) / d),
                )
            ),
            caught_by=("pe-values",),
        ),
        encoding(
            id="pe-integer-division",
            title="an exponent cut to a whole number by integer division",
            parts=one(lambda pos, i, d: pos / 10000.0 ** (2 * i // d)),
            caught_by=("pe-values",),
        ),
        encoding(
            id="pe-precedence",
            title="-log(10000) / d // 2: the floor taken of the whole fraction",
            parts=one(lambda pos, i, d: pos * np.exp(2 * i * (-np.log(10000.0) / d // 2))),
            caught_by=("pe-values",),
        ),
        encoding(
            id="pe-cosines-first",
            title="cosines where sines belong, and sines where cosines do",
            parts={
                "positional_encoding": lambda length, width: join(
                    *reversed(sines_and_cosines(length, width))
                )
            },
            caught_by=("pe-values",),
            question="What is row 0 of your table, and what should it be?",
            answer="Sines 0 and cosines 1, the sine first: 0, 1, 0, 1 … or 0 … 0, 1 … 1.",
        ),
        encoding(
            id="pe-from-one",
            title="positions counted from 1",
            parts={"positional_encoding": lambda length, width: right(length + 1, width)[1:]},
            caught_by=("pe-values",),
            question="What is row 0 of your table, and what should it be?",
            answer="Position 0: sines 0, cosines 1.",
        ),
        encoding(
            id="pe-zero-row",
            title="a row of zeros for position 0",
            parts={
                "positional_encoding": lambda length, width: (
                    right(length, width) * (np.arange(length) > 0)[:, None]
                )
            },
            caught_by=("pe-values", "pe-distance"),
            question="What is row 0 of your table, and what should it be?",
            answer="Position 0: sines 0, but cosines 1, so that all rows are equally long.",
        ),
        encoding(
            id="pe-transposed",
            title="the encoding transposed, (d, max_len)",
            parts={"positional_encoding": lambda length, width: right(length, width).T},
            caught_by=("pe-shape", "pe-values"),
        ),
        encoding(
            id="pe-random",
            title="a random table in place of the sinusoids",
            parts={"positional_encoding": random_table},
            caught_by=("pe-values", "pe-distance"),
        ),
        encoding(
            id="pe-wrong-axis",
            title="positions counted along the features",
            parts={"positional_encoding": partial(along_width, join)},
            caught_by=("pe-values", "pe-distance"),
        ),
    )


#: In the layout of the first document: sines, then cosines.
FLAWS = (
    *sinusoids(encodings.halves),
    encoding(
        id="pe-pairs",
        title="sine and cosine interleaved, where the brief asks for sines, then cosines",
        parts={"positional_encoding": encodings.interleaved},
        caught_by=("pe-values",),
        question="Two layouts of sines and cosines are in use. When does it matter which is used?",
        answer="For the product of two rows never; for weights trained with the other one, always.",
    ),
)


def one_row(length: int, width: int) -> Array:
    """Index the table with the length, which gives one row for all positions."""
    return np.tile(encodings.interleaved(length + 1, width)[length], (length, 1))


_pairs_one, _pairs_two = partial(one_angle, encodings.pairs), partial(two_angles, encodings.pairs)

#: In the layout of Vaswani et al.: sine and cosine interleaved.
INTERLEAVED = (
    *sinusoids(encodings.pairs),
    encoding(
        id="pe-column-doubled",
        title="2i of a column number that is even already, and 2(i + 1) for its cosine",
        parts=_pairs_two(
            lambda pos, i, d: (pos / 10000.0 ** (4 * i / d), pos / 10000.0 ** ((4 * i + 2) / d))
        ),
        caught_by=("pe-values",),
    ),
    encoding(
        id="pe-one-frequency",
        title="exponents raised to 10⁻⁴, so that all frequencies are nearly the same",
        parts=_pairs_one(lambda pos, i, d: pos * (2 * i / d) ** 1e-4),
        caught_by=("pe-values", "pe-distance"),
    ),
    encoding(
        id="pe-sines-only",
        title="sines in every column",
        parts={
            "positional_encoding": lambda length, width: encodings.pairs(
                *(np.sin(encodings.angles(length, width)),) * 2
            )
        },
        caught_by=("pe-values", "pe-distance"),
    ),
    encoding(
        id="pe-one-row",
        title="one row of the table for all positions",
        parts={"positional_encoding": one_row},
        caught_by=("pe-values", "pe-distance"),
        question="What do pe[:T] and pe[T] select?",
        answer="The first T rows, and one row; broadcast, it gives every token the same position.",
    ),
    encoding(
        id="pe-halves",
        title="sines, then cosines, where the brief asks for pairs",
        parts={"positional_encoding": encodings.concatenated},
        caught_by=("pe-values",),
        question="Two layouts of sines and cosines are in use. When does it matter which is used?",
        answer="For the product of two rows never; for weights trained with the other one, always.",
    ),
)
