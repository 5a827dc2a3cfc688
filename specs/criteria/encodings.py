"""Positional encodings: sinusoids, rotations, biases."""

from __future__ import annotations

import numpy as np

from harness import CheckFailed, Expected, Facet, Judge, Stage, Tensor, criterion
from specs.reference import encodings as reference
from specs.reference.encodings import LAYOUTS

#: (max_len, d), d even; at d = 2 most mistakes are invisible.
SIZES = ((7, 6), (10, 4), (64, 16), (5, 12))


@criterion(
    facet=Facet.NUMERIC,
    stage=Stage.ENCODING,
    hint="Angle of column i: pos / 10000^(2i/d), i = 0 … d/2 - 1; one frequency for a sine and its "
    "cosine.",
    question="What is the wavelength of the first pair of columns, and of the last?",
    answer="2π and almost 10000·2π: the exponent 2i/d runs from 0 to nearly 1, once for each "
    "sine and its cosine.",
)
def pe_values(positional_encoding, layout: str, judge: Judge):
    """Row pos holds sin and cos of pos / 10000^(2i/d), in the brief's layout."""
    tables = list(positional_encoding.each(SIZES))
    try:
        _judge_layout(tables, layout, judge)
    except CheckFailed as wrong:
        others = [name for name in LAYOUTS if name != layout and _matches(tables, name)]
        if others:
            raise CheckFailed(
                f"the values are right in another layout ({others[0]}), the brief asks for {layout}"
            ) from None
        raise wrong


def _judge_layout(tables, layout: str, judge: Judge) -> None:
    for returned, (length, width) in zip(tables, SIZES, strict=True):
        # An angle of size pos is off by a few roundoffs of its own, and so are its sine and cosine.
        roundoffs = 16.0 * np.arange(length)[:, None] + 8
        table, precision = returned["encoding"], "f4"
        if isinstance(table, Tensor) and table.dtype == "f2":
            # Kept in half precision, as models keep it: 1e-3 is what it can hold of values up to 1.
            judge.note("the encoding is stored in float16")
            roundoffs, precision = np.full_like(roundoffs, 2.0), "f2"
        expected = Expected(LAYOUTS[layout](length, width), roundoffs)
        judge.close(table, expected, "encoding", precision=precision)


def _matches(tables, layout: str) -> bool:
    try:
        _judge_layout(tables, layout, Judge())
    except CheckFailed:
        return False
    return True


@criterion(
    facet=Facet.SHAPE,
    stage=Stage.ENCODING,
    hint="One row per position: (max_len, d).",
    earns_with="pe-values",
)
def pe_shape(positional_encoding, judge: Judge):
    """The encoding is (max_len, d) for even d."""
    for returned, size in zip(positional_encoding.each(SIZES), SIZES, strict=True):
        judge.shape(returned["encoding"], size, "encoding")
    if (error := positional_encoding.error(9, 7)) is not None:
        judge.note(f"odd d raises {error.kind}")


@criterion(
    facet=Facet.BEHAVIOUR,
    stage=Stage.ENCODING,
    hint="Sine and cosine of the same angle make the product of two rows a function of the offset.",
)
def pe_distance(positional_encoding, judge: Judge):
    """The cosine of two rows depends on their offset only, and is largest at offset 1.

    Computed for d = 16: 0.936 at offset 1 and 0.587 at 8. It does not fall monotonically.
    """
    for width in (16, 32):
        table = judge.finite(positional_encoding(64, width)["encoding"], "encoding").values
        judge.require(
            table.shape == (64, width), f"encoding has shape {table.shape}, expected (64, {width})"
        )
        rows = table.astype(np.float64)
        norms = np.linalg.norm(rows, axis=1)
        judge.require((norms > 0).all(), "a row of the encoding is the zero vector")
        cosines = (rows @ rows.T) / norms[:, None] / norms
        offsets = [np.diagonal(cosines, offset) for offset in range(1, 64)]
        spread = max(float(np.ptp(values)) for values in offsets)
        judge.within(spread, 1e-3, f"rows at the same offset differ in cosine by {spread:.3g}")
        means = [float(values.mean()) for values in offsets]
        judge.require(
            max(means) == means[0] and means[0] < 0.999,
            f"the cosine is largest at offset {means.index(max(means)) + 1}, expected offset 1",
        )
        if width == 16:
            got = f"{means[0]:.3f} and {means[7]:.3f}"
            right = "0.936 and 0.587"
            judge.require(got == right, f"cosines at 1 and 8 are {got}, expected {right}")


#: Positions and even widths of the rotary criterion; at d = 2 most mistakes are invisible.
LENGTH, WIDTHS = 9, (4, 12)


@criterion(
    facet=Facet.BEHAVIOUR,
    stage=Stage.ENCODING,
    hint="Turn the pair (a, b) to (a·cos - b·sin, a·sin + b·cos) by the angle position / "
    "10000^(2i/d), with the same frequency for both halves of a pair and the positions given.",
)
def rotary(rotary, draw, judge: Judge):
    """Vectors are turned: norms are kept, and q·k depends on the offset of their positions only.

    All rows of q hold one vector, and so do those of k, so that their product may depend on the
    positions alone. A vector of ones has the same product under either pairing of the features,
    which shows the frequencies.
    """
    for width in WIDTHS:
        in_order, other = np.arange(LENGTH), draw.permutation(LENGTH)
        q, k = (np.repeat(draw.normal(2, 3, 1, width), LENGTH, axis=-2) for _ in "qk")
        ones = np.ones((1, LENGTH, width))
        short = (q[..., :2, :], other[:2])
        calls = [(q, in_order), (k, in_order), (ones, in_order), (q, other), short]
        turned_q, turned_k, turned_ones, *moved = (
            judge.finite(judge.shape(returned["turned"], x.shape, "turned"), "turned")
            for returned, (x, _) in zip(rotary.each(calls), calls, strict=True)
        )
        _judge_norms(judge, q, turned_q)
        _judge_norms(judge, k, turned_k)
        _judge_offsets(judge, _products(turned_q, turned_k), _sizes(q) * _sizes(k))
        _judge_frequencies(judge, turned_ones, width)
        for given, turned in zip((other, other[:2]), moved, strict=True):
            rows = turned_q.values.astype(np.float64)[..., given, :]
            bound = _roundoffs(width) * _sizes(q)[..., : len(given), :]
            named = "turned at other positions"
            judge.close(turned, Expected(rows, bound), named)


def _judge_norms(judge: Judge, x, turned: Tensor) -> None:
    bound = _roundoffs(x.shape[-1]) * _sizes(x)
    norms = np.linalg.norm(turned.values.astype(np.float64), axis=-1, keepdims=True)
    judge.close(Tensor(norms, turned.dtype), Expected(_sizes(x), bound), "norm of a turned vector")
    start = Tensor(turned.values[..., 0, :], turned.dtype)
    judge.close(start, Expected(x[..., 0, :], bound[..., 0, :]), "turned at position 0")


def _judge_offsets(judge: Judge, products: Tensor, sizes) -> None:
    """``sizes``: |q||k|, the same for every pair of rows."""
    width = max(WIDTHS)
    one_later = Tensor(products.values[..., 1:, 1:], products.dtype)
    expected = Expected(products.values[..., :-1, :-1], 2 * _roundoffs(width) * sizes[..., 1:, :])
    judge.close(one_later, expected, "q·k one position later")
    spread = np.ptp(products.values[..., 0, :], axis=-1)
    judge.require((spread > 1e-3).all(), "q·k does not depend on the offset")


def _judge_frequencies(judge: Judge, turned_ones: Tensor, width: int) -> None:
    angles = reference.distances(LENGTH)[..., None] * reference.frequencies(width)
    expected = Expected(2 * np.cos(angles).sum(-1)[None], 2 * _roundoffs(width) * width)
    judge.close(_products(turned_ones, turned_ones), expected, "q·k for vectors of ones")


def _roundoffs(width: int) -> float:
    """Bound a turned vector by its size: angles are off by their own, sums by their terms."""
    return 16 * LENGTH + 16 + 2 * width


def _sizes(x):
    return np.linalg.norm(x, axis=-1, keepdims=True)


def _products(q: Tensor, k: Tensor) -> Tensor:
    values = q.values.astype(np.float64) @ k.values.astype(np.float64).swapaxes(-1, -2)
    return Tensor(values, q.dtype)


@criterion(
    facet=Facet.NUMERIC,
    stage=Stage.ENCODING,
    hint="Add -slope·(i - j) to the score of query i and key j; head h has slope 2^(-8(h+1)/H).",
)
def alibi(alibi_bias, judge: Judge):
    """The bias falls linearly with the distance, with slopes that are geometric in the head.

    Only keys that a causal mask allows are compared, and a constant added to a row is of no
    consequence: the softmax does not see it.
    """
    sizes = ((2, 5), (4, 7), (8, 6), (16, 3))
    for returned, (heads, length) in zip(alibi_bias.each(sizes), sizes, strict=True):
        bias = judge.shape(returned["bias"], (heads, length, length), "bias")
        own = np.diagonal(bias.values, axis1=-2, axis2=-1)[..., None]
        judge.require(np.isfinite(own).all(), "the bias of a position to itself is not finite")
        if own.any():
            judge.note("each row of the bias is shifted by a constant, which the softmax ignores")
        values = reference.alibi_bias(heads, length)
        past = np.broadcast_to(reference.distances(length) >= 0, values.shape)
        expected = Expected(values, 16 * np.abs(values) + 16, past)
        judge.close(Tensor(bias.values - own, bias.dtype), expected, "bias")
