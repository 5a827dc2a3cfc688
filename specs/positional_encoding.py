"""Positional encodings in numpy: sinusoids, and at the highest level rotations and biases.

From the first document (its layout is that of ``numpy_attention``; here sine and cosine of a
frequency stand side by side, as in Vaswani et al. 2017) and questions 11 and 63 of the third.

Slips of the first document, encoded right: the encoding of position zero is not the zero vector,
its cosines are 1; the similarity of two rows does not fall monotonically with their distance.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from harness import Draw, EntryPoint, Expected, Flaw, Level, Spec
from specs.briefs import brief, starter
from specs.criteria.encodings import alibi, pe_distance, pe_shape, pe_values, rotary
from specs.flaws.encodings import INTERLEAVED
from specs.flaws.positions import ALIBI, ROTARY
from specs.next_questions import ask_next
from specs.reference import encodings

Array = np.ndarray[Any, Any]

REFERENCE = MappingProxyType(
    {
        "positional_encoding": encodings.interleaved,
        "rotary": encodings.rotary,
        "alibi_bias": encodings.alibi_bias,
    }
)

#: Name in the brief -> the part that it is.
FUNCTIONS = {
    "sinusoidal": "positional_encoding",
    "rotary": "rotary",
    "alibi_bias": "alibi_bias",
}


def assemble(parts: Mapping[str, Callable[..., Any]]) -> Mapping[str, Callable[..., Any]]:
    """Return the assignment's functions, made of these parts."""
    return {name: parts[part] for name, part in FUNCTIONS.items()}


def expect(parts: Mapping[str, Callable[..., Any]]) -> Mapping[str, Callable[..., Any]]:
    """Return the assignment's functions as expected values with their rounding bounds.

    Nothing is said about an odd width, and about a bias towards keys that causal attention blocks.
    """

    def sinusoidal(length: int, width: int) -> tuple[Expected, ...]:
        if width % 2:
            return ()
        return (_bounded(parts["positional_encoding"](length, width), length),)

    def rotary(x: Array, positions: Array) -> tuple[Expected, ...]:
        return (_bounded(parts["rotary"](x, positions), float(np.max(positions, initial=1))),)

    def alibi_bias(heads: int, length: int) -> tuple[Expected, ...]:
        bias = _bounded(parts["alibi_bias"](heads, length), length)
        return (bias.where(encodings.distances(length) >= 0),)

    return {"sinusoidal": sinusoidal, "rotary": rotary, "alibi_bias": alibi_bias}


def _bounded(values: Array, size: float) -> Expected:
    """Bound values by the largest angle, or distance, that went into them."""
    exact = np.asarray(values, dtype=np.float64)
    return Expected(exact, 32 * size * max(1.0, float(np.abs(exact).max(initial=0))))


def fixtures(draw: Draw) -> Mapping[str, object]:
    """What this assignment's criteria ask for."""
    return {"layout": "sine and cosine interleaved"}


FLAWS: tuple[Flaw, ...] = (*INTERLEAVED, *ROTARY, *ALIBI)

PASS, GOOD, EXCELLENT = Level.PASS, Level.GOOD, Level.EXCELLENT

SPEC = Spec(
    name="positional_encoding",
    title="Positional encodings in numpy",
    brief=brief("positional_encoding"),
    next_questions=ask_next(63, 11),
    starter=starter("positional_encoding"),
    arrays="numpy",
    image="numpy",
    entry_points=(
        EntryPoint(
            role="positional_encoding",
            name="sinusoidal",
            parameters=("max_len", "d"),
            returns=("encoding",),
            aliases=("positional_encoding", "sinusoidal_encoding", "get_positional_encoding", "pe"),
            variants=encodings.TO_INTERLEAVED,
            example=(7, 6),
        ),
        EntryPoint(
            role="rotary", name="rotary", parameters=("x", "positions"), returns=("turned",)
        ),
        EntryPoint(
            role="alibi_bias",
            name="alibi_bias",
            parameters=("num_heads", "length"),
            returns=("bias",),
        ),
    ),
    checks=(
        pe_values.at(PASS, points=6),
        pe_shape.at(PASS, points=1),
        pe_distance.at(GOOD, points=3),
        rotary.at(EXCELLENT, points=4),
        alibi.at(EXCELLENT, points=3),
    ),
    reference=REFERENCE,
    flaws=FLAWS,
    assemble=assemble,
    expect=expect,
    fixtures=fixtures,
    styles=({"rotary": encodings.rotary_halves},),
)
