"""Mistakes in rotations (RoPE) and biases (ALiBi), which put positions into the scores."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from harness import Flaw, Stage
from specs.reference import encodings

Array = np.ndarray[Any, Any]

rotation = partial(
    Flaw,
    stage=Stage.ENCODING,
    caught_by=("rotary",),
    question="Which two features form a pair in your rotation, and which frequency does each get?",
    answer="(2i, 2i+1) or (i, i + d/2); both of a pair turn by pos·10000^(-2i/d), so norms stay.",
)
bias = partial(
    Flaw,
    stage=Stage.ENCODING,
    caught_by=("alibi",),
    question="What does ALiBi add to the score of query i and key j, and how do heads differ?",
    answer="-slope·(i - j); the slopes 2^(-8(h+1)/H) give each head a reach of its own.",
)


def neighbours(x: Array) -> Array:
    """(a, b) -> (-b, a) for features 2i and 2i + 1."""
    return np.stack([-x[..., 1::2], x[..., 0::2]], axis=-1).reshape(x.shape)


def far_halves(x: Array) -> Array:
    """(a, b) -> (-b, a) for features i and i + d/2."""
    first, second = np.split(x, 2, axis=-1)
    return np.concatenate([-second, first], axis=-1)


def angles(x: Array, positions: Array, spread: Callable[[Array], Array]) -> Array:
    """The angle of every feature, one frequency for two of them: (T, d)."""
    return np.asarray(positions)[:, None] * spread(encodings.frequencies(x.shape[-1]))


def side_by_side(values: Array) -> Array:
    """Give features 2i and 2i + 1 the same value."""
    return np.repeat(values, 2)


def twice_in_a_row(values: Array) -> Array:
    """Give features i and i + d/2 the same value."""
    return np.tile(values, 2)


def mixed(swap: Callable[[Array], Array], spread: Callable[[Array], Array]) -> Any:
    """x·cos + swap(x)·sin, where the two ways to pair features do not fit."""

    def rotary(x: Array, positions: Array) -> Array:
        angle = angles(x, positions, spread)
        return x * np.cos(angle) + swap(x) * np.sin(angle)

    return rotary


def without_minus(x: Array) -> Array:
    """(a, b) -> (b, a)."""
    return np.stack([x[..., 1::2], x[..., 0::2]], axis=-1).reshape(x.shape)


def recounted(x: Array, positions: Array) -> Array:
    """Count positions from 0, whatever they are."""
    return encodings.rotary(x, np.arange(x.shape[-2]))


class Remembered:
    """Keeps the angles of the first positions of each length, and uses them ever after."""

    def __init__(self) -> None:
        self._positions: dict[int, Array] = {}

    def __call__(self, x: Array, positions: Array) -> Array:
        kept = self._positions.setdefault(x.shape[-2], positions)
        return encodings.rotary(x, kept)


def left_apart(x: Array, positions: Array) -> Array:
    """Concatenate the turned features instead of putting them back side by side."""
    turned = encodings.rotary(x, positions)
    return np.concatenate([turned[..., 0::2], turned[..., 1::2]], axis=-1)


def doubled(x: Array, positions: Array) -> Array:
    """Angles with the exponent doubled."""
    angle = np.asarray(positions)[:, None] * np.repeat(encodings.frequencies(x.shape[-1]) ** 2, 2)
    return x * np.cos(angle) + neighbours(x) * np.sin(angle)


def added(x: Array, positions: Array) -> Array:
    """Add the sinusoids instead of turning."""
    return x + encodings.interleaved(int(np.max(positions)) + 1, x.shape[-1])[positions]


ROTARY = (
    rotation(
        id="rotary-pairs-with-halves",
        title="neighbours rotated with frequencies meant for halves",
        parts={"rotary": mixed(neighbours, twice_in_a_row)},
    ),
    rotation(
        id="rotary-halves-with-pairs",
        title="halves rotated with frequencies meant for neighbours",
        parts={"rotary": mixed(far_halves, side_by_side)},
    ),
    rotation(
        id="rotary-no-swap",
        title="x·cos + x·sin: the partner of a feature is never used",
        parts={"rotary": mixed(lambda x: x, side_by_side)},
    ),
    rotation(
        id="rotary-no-minus",
        title="a rotation without its minus sign",
        parts={"rotary": mixed(without_minus, side_by_side)},
    ),
    rotation(
        id="rotary-position-zero",
        title="position 0 for every token: nothing is turned",
        parts={"rotary": lambda x, positions: x + 0.0},
    ),
    rotation(
        id="rotary-recounted",
        title="positions counted from 0, whatever positions are given",
        parts={"rotary": recounted},
        question="In decoding step 7 your function gets one token. By which angle is it turned?",
        answer="By that of position 7, which the caller passes; recounting makes every step 0.",
    ),
    rotation(
        id="rotary-table-kept",
        title="angles kept by length, so that later calls get the first call's positions",
        parts={"rotary": Remembered()},
        question="What is the key of your table of angles?",
        answer="It must hold the positions, not just how many there are.",
    ),
    rotation(
        id="rotary-left-apart",
        title="turned neighbours concatenated as halves instead of put back side by side",
        parts={"rotary": left_apart},
        question="What should a rotation by position 0 return?",
        answer="The vector itself; any other order of features shows there.",
    ),
    rotation(
        id="rotary-exponent-doubled",
        title="the exponent of the frequencies doubled",
        parts={"rotary": doubled},
    ),
    rotation(
        id="rotary-added",
        title="sinusoids added to the vector instead of a rotation",
        parts={"rotary": added},
        question="What does q·k look like when the encoding is added, and what when it rotates?",
        answer="Added: four terms, two of them mix content and position. Rotated: offset only.",
    ),
)


def falling(slopes: Callable[[int], Array]) -> Any:
    """A bias with other slopes."""

    def alibi_bias(heads: int, length: int) -> Array:
        return -slopes(heads)[:, None, None] * np.abs(encodings.distances(length))

    return {"alibi_bias": alibi_bias}


ALIBI = (
    bias(
        id="alibi-rising",
        title="a bias that favours distant keys: the sign is missing",
        parts={"alibi_bias": lambda heads, length: -encodings.alibi_bias(heads, length)},
    ),
    bias(
        id="alibi-one-slope",
        title="one slope for all heads",
        parts=falling(lambda heads: np.full(heads, encodings.slopes(heads)[0])),
    ),
    bias(
        id="alibi-linear-slopes",
        title="slopes in equal steps instead of a geometric series",
        parts=falling(lambda heads: np.arange(heads, 0, -1) / heads),
    ),
    bias(
        id="alibi-whole-exponents",
        title="slopes with exponents cut to whole numbers",
        parts=falling(lambda heads: 2.0 ** (-8 * np.arange(1, heads + 1) // heads)),
        question="What are the first two of 16 slopes?",
        answer="2^-0.5 and 2^-1: the exponent -8(h+1)/16 is no whole number.",
    ),
    bias(
        id="alibi-from-one",
        title="slopes that begin with 2⁰, one power early",
        parts=falling(lambda heads: 2.0 ** (-8.0 * np.arange(heads) / heads)),
    ),
    bias(
        id="alibi-squared",
        title="a bias quadratic in the distance",
        parts={
            "alibi_bias": lambda heads, length: (
                -encodings.slopes(heads)[:, None, None] * encodings.distances(length) ** 2
            )
        },
    ),
    bias(
        id="alibi-from-start",
        title="a bias by the key's own position, so that the first keys win",
        parts={
            "alibi_bias": lambda heads, length: np.broadcast_to(
                -encodings.slopes(heads)[:, None, None] * np.arange(length),
                (heads, length, length),
            )
        },
    ),
)
