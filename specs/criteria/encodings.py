"""Sinusoidal positional encodings."""

from __future__ import annotations

import numpy as np

from harness import CheckFailed, Expected, Facet, Judge, criterion
from specs.encodings import LAYOUTS

#: (max_len, d), d even; at d = 2 most mistakes are invisible.
SIZES = ((7, 6), (10, 4), (64, 16), (5, 12))


@criterion(
    facet=Facet.NUMERIC,
    hint="Angle of column i: pos / 10000^(2i/d), i = 0 … d/2 - 1; one frequency for a sine and its "
    "cosine.",
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
    for returned, (length, width) in zip(tables, SIZES):
        # An angle of size pos is off by a few roundoffs of its own, and so are its sine and cosine.
        roundoffs = 16.0 * np.arange(length)[:, None] + 8
        expected = Expected(LAYOUTS[layout](length, width), np.broadcast_to(roundoffs, (length, width)))
        judge.close(returned["encoding"], expected, "encoding")


def _matches(tables, layout: str) -> bool:
    try:
        _judge_layout(tables, layout, Judge())
    except CheckFailed:
        return False
    return True


@criterion(
    facet=Facet.SHAPE,
    hint="One row per position: (max_len, d).",
    earns_with="pe-values",
)
def pe_shape(positional_encoding, judge: Judge):
    """The encoding is (max_len, d) for even d."""
    for returned, size in zip(positional_encoding.each(SIZES), SIZES):
        judge.shape(returned["encoding"], size, "encoding")
    if (error := positional_encoding.error(9, 7)) is not None:
        judge.note(f"odd d raises {error.kind}")


@criterion(
    facet=Facet.BEHAVIOUR,
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
        judge.require(spread < 1e-3, f"rows at the same offset differ in cosine by {spread:.3g}")
        means = [float(values.mean()) for values in offsets]
        judge.require(
            max(means) == means[0] and means[0] < 0.999,
            f"the cosine is largest at offset {means.index(max(means)) + 1}, expected offset 1",
        )
        if width == 16:
            got = f"{means[0]:.3f} and {means[7]:.3f}"
            judge.require(got == "0.936 and 0.587", f"cosines at 1 and 8 are {got}, expected 0.936 and 0.587")
