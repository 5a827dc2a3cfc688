"""Scaled dot-product attention in numpy, with masks, heads and a positional encoding.

The whiteboard assignment of the first source document. Its conventions: a boolean mask in which
True means "may attend"; sines in the first half of the encoding's columns, cosines in the second.

Slips of the document, encoded right: the encoding of position zero is not the zero vector (its
cosines are 1); sixteen dimensions in four heads give four each, not eight; similarity does not
fall monotonically with distance (d = 16: 0.69 at offset 3, 0.81 at 6).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from harness import (
    Draw,
    EntryPoint,
    Expected,
    Facet,
    Flaw,
    Judge,
    Level,
    Spec,
    Stage,
    Tensor,
    criterion,
)
from specs.briefs import brief, starter
from specs.criteria import attention as core
from specs.criteria import behaviour, masking
from specs.criteria.cases import ATTENTION_NAMES, AttentionCases
from specs.criteria.encodings import pe_distance, pe_shape, pe_values
from specs.criteria.heads import head_split
from specs.flaws import behaviour as behaving
from specs.flaws import encodings as encoding_flaws
from specs.flaws import heads as head_flaws
from specs.flaws import masking as mask_flaws
from specs.flaws import scaling, softmax
from specs.next_questions import ask_next
from specs.plain import plain_program
from specs.reference import encodings, heads, stages

Array = np.ndarray[Any, Any]


@criterion(
    facet=Facet.STABILITY,
    stage=Stage.NORMALISE,
    hint="Subtract the maximum along the axis before exponentiating: "
    "x - x.max(axis=axis, keepdims=True).",
    earns_with="definition",
    question=behaviour.stable_softmax.question,
    answer=behaviour.stable_softmax.answer,
)
def stable_softmax(softmax, attention, cases: AttentionCases, judge: Judge):
    """Logits in the thousands stay finite and right; softmax(x + c) = softmax(x) on any axis.

    x lies on a grid of 2⁻⁶ and c = 1024, so that adding c rounds nothing.
    """
    grid = np.round(cases.draw.normal(4, 5, 6) * 64) / 64
    apart = grid + np.array([3000.0, -3000.0, 0.0, 0.0])[:, None, None]
    drawn = [(x, axis) for axis in (-1, 0, 1) for x in (grid, grid + 1024, grid * 3000)]
    drawn.append((apart, -1))
    for returned, (x, axis) in zip(softmax.each(drawn), drawn):
        weights = stages.softmax(x, axis)
        roundoffs = weights * (6 * np.abs(x).max() + 32) + 1
        judge.close(returned["weights"], Expected(weights, roundoffs), "softmax(x)")
    behaviour.judge_large_logits(attention, cases, judge)


@criterion(
    facet=Facet.SHAPE,
    stage=Stage.NORMALISE,
    hint="def softmax(x, axis=-1): the last axis by default, any number of axes, and new arrays "
    "instead of -= and /= on x.",
    question="softmax(x) of a vector, of a matrix, of (B, H, T, T): which axis, and why that one?",
    answer="The last, over the keys; keepdims lets one line serve every number of axes.",
)
def softmax_function(softmax, draw: Draw, judge: Judge):
    """softmax works on arrays of any shape, over the last axis by default, and leaves x alone."""
    drawn = [draw.normal(*shape) for shape in ((4,), (3, 5), (2, 3, 4), (2, 2, 3, 4))]
    for returned, x in zip(softmax.each((x,) for x in drawn), drawn):
        bound = 16 * np.abs(x).max() + 32
        judge.close(returned["weights"], Expected(stages.softmax(x), bound), "softmax(x)")
    x = draw.normal(3, 5)
    after = softmax.echoing(x).arguments_after[0]
    same = isinstance(after, Tensor) and np.array_equal(after.values, x)
    judge.require(same, "argument x was changed by the call")


def causal_mask(length: int) -> Array:
    """Row i allows 0 … i: (length, length), bool."""
    return np.tri(length, dtype=bool)


def padding_mask(lengths: Array, longest: int) -> Array:
    """Allow the first lengths[b] keys of item b: (B, 1, longest), bool."""
    return np.arange(longest) < np.asarray(lengths)[:, None, None]


REFERENCE = MappingProxyType(
    {
        **stages.REFERENCE,
        "softmax": stages.softmax,
        "causal_mask": causal_mask,
        "padding_mask": padding_mask,
        "split_heads": heads.split_heads,
        "merge_heads": heads.merge_heads,
        "positional_encoding": encodings.concatenated,
    }
)

#: Entry points that are one part, taken as it is.
FUNCTIONS = (
    "softmax",
    "causal_mask",
    "padding_mask",
    "split_heads",
    "merge_heads",
    "positional_encoding",
)


def assemble(parts: Mapping[str, Callable[..., Any]]) -> Mapping[str, Callable[..., Any]]:
    """Return the assignment's functions, made of these parts."""

    def attention(query: Array, key: Array, value: Array, mask: Array | None = None) -> Any:
        trace = stages.attention(parts, query, key, value, mask)
        return trace.out, trace.weights

    return {"attention": attention, **{name: parts[name] for name in FUNCTIONS}}


def expect(parts: Mapping[str, Callable[..., Any]]) -> Mapping[str, Callable[..., Any]]:
    """Return the assignment's functions as expected values with their rounding bounds."""

    def attention(*arguments: Any) -> tuple[Expected, ...]:
        return stages.expected(parts, *arguments)

    def wrap(name: str) -> Callable[..., tuple[Expected, ...]]:
        def expected(*arguments: Any) -> tuple[Expected, ...]:
            values = np.asarray(parts[name](*arguments), dtype=np.float64)
            sizes = [float(np.max(np.abs(a), initial=1)) for a in arguments]
            return (Expected(values, 32 * max(sizes) * np.ones_like(values)),)

        return expected

    return {"attention": attention, **{name: wrap(name) for name in FUNCTIONS}}


def fixtures(draw: Draw) -> Mapping[str, object]:
    """What this assignment's criteria draw from."""
    return {
        "cases": AttentionCases(draw, heads=(), dtype="f8"),
        "layout": "sines, then cosines",
    }


FLAWS: tuple[Flaw, ...] = (
    *scaling.FLAWS,
    scaling.BY_VALUES,
    *softmax.FLAWS,
    *softmax.RETURNED,
    *softmax.FUNCTION,
    *mask_flaws.ATTENTION,
    mask_flaws.ALWAYS_CAUSAL,
    *mask_flaws.FUNCTIONS,
    *behaving.FLAWS,
    behaving.ASSUMES_CONTIGUOUS,
    behaving.ONE_ARRAY,
    *head_flaws.FLAWS,
    *encoding_flaws.FLAWS,
)

PASS, GOOD = Level.PASS, Level.GOOD

SPEC = Spec(
    name="numpy_attention",
    title="Attention in numpy",
    brief=brief("numpy_attention"),
    next_questions=ask_next(8, 27, 31, 34),
    starter=starter("numpy_attention"),
    arrays="numpy",
    image="numpy",
    entry_points=(
        EntryPoint(
            role="softmax",
            name="softmax",
            parameters=("x", "axis"),
            returns=("weights",),
            optional=1,
            aliases=("stable_softmax", "softmax_stable", "my_softmax"),
        ),
        EntryPoint(
            role="attention",
            name="attention",
            parameters=("Q", "K", "V", "mask"),
            returns=("out", "weights"),
            optional=1,
            mask_shapes=("qk", "b1k", "bqk"),
            aliases=ATTENTION_NAMES,
        ),
        EntryPoint(
            role="causal_mask",
            name="causal_mask",
            parameters=("length",),
            returns=("mask",),
            aliases=(
                "make_causal_mask",
                "create_causal_mask",
                "get_causal_mask",
                "subsequent_mask",
            ),
        ),
        EntryPoint(
            role="padding_mask",
            name="padding_mask",
            parameters=("lengths", "max_len"),
            returns=("mask",),
            aliases=("make_padding_mask", "create_padding_mask", "get_padding_mask", "pad_mask"),
        ),
        EntryPoint(
            role="split_heads", name="split_heads", parameters=("x", "h"), returns=("heads",)
        ),
        EntryPoint(role="merge_heads", name="merge_heads", parameters=("x",), returns=("merged",)),
        EntryPoint(
            role="positional_encoding",
            name="positional_encoding",
            parameters=("max_len", "d"),
            returns=("encoding",),
            aliases=("pe", "sinusoidal", "sinusoidal_encoding", "get_positional_encoding"),
            variants=encodings.TO_CONCATENATED,
            example=(7, 6),
        ),
    ),
    checks=(
        core.output_shape.at(PASS, points=1),
        core.weights_shape.at(PASS, points=1),
        core.definition.at(PASS, points=6),
        core.scale.at(PASS, points=3),
        core.softmax_axis.at(PASS, points=3),
        core.softmax_before_values.at(PASS, points=1),
        core.weights_valid.at(PASS, points=2),
        core.values_aggregated.at(PASS, points=2),
        masking.mask_before_softmax.at(PASS, points=3),
        masking.mask_value.at(PASS, points=2),
        masking.mask_polarity.at(PASS, points=2),
        softmax_function.at(PASS, points=2),
        masking.causal_mask.at(PASS, points=2),
        masking.causal_perturbation.at(PASS, points=2),
        masking.padding.at(PASS, points=2),
        head_split.at(PASS, points=4),
        pe_values.at(PASS, points=4),
        behaviour.from_scratch.at(PASS, points=1, earns_with="definition"),
        masking.padding_mask.at(GOOD, points=2),
        masking.mask_combination.at(GOOD, points=2),
        masking.mask_broadcast.at(GOOD, points=2),
        behaviour.fully_masked_row.at(GOOD, points=2),
        stable_softmax.at(GOOD, points=3),
        core.scale_effect.at(GOOD, points=1),
        behaviour.inputs_untouched.at(GOOD, points=2),
        behaviour.self_attention.at(GOOD, points=1),
        core.permutation.at(GOOD, points=1),
        pe_shape.at(GOOD, points=1),
        pe_distance.at(GOOD, points=1),
        behaviour.determinism.at(GOOD, points=1),
    ),
    reference=REFERENCE,
    flaws=FLAWS,
    assemble=assemble,
    expect=expect,
    fixtures=fixtures,
    styles=stages.STYLES,
    plain=plain_program("numpy_attention", FLAWS),
)
