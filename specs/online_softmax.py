"""Attention in blocks of keys with an online softmax, in numpy.

From the variants that the first document closes with ("blockwise, plus a softmax kept online")
and questions 37 to 40 of the third. Criteria that know attention as (Q, K, V, mask) see it
through ``specs.reference.online.WithoutBlocks``, which chooses a block size that divides the lengths.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from harness import Draw, EntryPoint, Level, Spec
from specs.briefs import brief, starter
from specs.criteria import behaviour, masking
from specs.criteria.cases import AttentionCases
from specs.criteria.online import memory_growth, online_equals_full, online_ragged
from specs.flaws.online import CORE, FLAWS
from specs.next_questions import ask_next
from specs.reference import online, stages


def assemble(parts: Mapping[str, Callable[..., Any]]) -> Mapping[str, Callable[..., Any]]:
    """Return the assignment's function, made of these parts."""
    return {"attention": partial(online.attention, parts)}


def expect(parts: Mapping[str, Callable[..., Any]]) -> Mapping[str, Callable[..., Any]]:
    """Return the assignment's function as an expected value with its rounding bound."""
    return {"attention": partial(online.expected, parts)}


def fixtures(draw: Draw) -> Mapping[str, object]:
    """What this assignment's criteria draw from."""
    return {"cases": AttentionCases(draw, heads=(), dtype="f8")}


PASS, GOOD, EXCELLENT = Level.PASS, Level.GOOD, Level.EXCELLENT

SPEC = Spec(
    name="online_softmax",
    title="Attention in blocks, in numpy",
    brief=brief("online_softmax"),
    next_questions=ask_next(40, 37, 48),
    starter=starter("online_softmax"),
    arrays="numpy",
    image="numpy",
    entry_points=(
        EntryPoint(
            role="attention_in_blocks",
            name="attention",
            parameters=("Q", "K", "V", "block_size", "mask"),
            returns=("out",),
            optional=1,
            aliases=(
                "online_attention",
                "flash_attention",
                "blockwise_attention",
                "chunked_attention",
            ),
            mask_shapes=("qk", "b1k", "bqk"),
            fixed={3: 3},
        ),
    ),
    checks=(
        online_equals_full.at(PASS, points=6),
        online_ragged.at(GOOD, points=3),
        behaviour.stable_softmax.at(GOOD, points=3, earns_with=CORE),
        masking.mask_before_softmax.at(GOOD, points=3, earns_with=CORE),
        masking.mask_value.at(GOOD, points=2, earns_with=CORE),
        masking.mask_polarity.at(GOOD, points=2, earns_with=CORE),
        masking.mask_broadcast.at(GOOD, points=2, earns_with=CORE),
        behaviour.fully_masked_row.at(GOOD, points=2, earns_with=CORE),
        memory_growth.at(EXCELLENT, points=4),
    ),
    reference=online.REFERENCE,
    flaws=FLAWS,
    assemble=assemble,
    expect=expect,
    fixtures=fixtures,
    roles=online.roles,
    styles=stages.STYLES,
)
