"""scaled_dot_product_attention in PyTorch, by hand.

The function of question 43 of the third source document. Its conventions: masks of bools or of
0 and 1, where 0 and False block; floating masks are added, and tried at the highest level only,
since the document's own program takes none. That program fills with -inf, so that a fully masked
row becomes NaN, of which the document itself warns: it reaches *pass* here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from harness import Draw, EntryPoint, Expected, Flaw, Level, Spec
from specs.briefs import brief, starter
from specs.criteria import attention as core
from specs.criteria import behaviour, masking, training
from specs.criteria.cases import ATTENTION_NAMES, AttentionCases
from specs.flaws import behaviour as behaving
from specs.flaws import masking as mask_flaws
from specs.flaws import scaling, softmax
from specs.flaws import training as training_flaws
from specs.next_questions import ask_next
from specs.plain import plain_program
from specs.reference import stages

Array = Any

REFERENCE = MappingProxyType(
    {
        **stages.REFERENCE,
        "drop_weights": training_flaws.dropout,
        "default_training": lambda: True,
    }
)


def assemble(parts: Mapping[str, Callable[..., Any]]) -> Mapping[str, Callable[..., Any]]:
    """Return the assignment's function, made of these parts."""

    def scaled_dot_product_attention(
        query: Array,
        key: Array,
        value: Array,
        attn_mask: Array | None = None,
        dropout_p: float = 0.0,
        training: object = None,
    ) -> Any:
        training = parts["default_training"]() if training is None else training
        trace = stages.attention(parts, query, key, value, attn_mask, dropout_p, training)
        return trace.out, trace.weights

    return {"scaled_dot_product_attention": scaled_dot_product_attention}


def expect(parts: Mapping[str, Callable[..., Any]]) -> Mapping[str, Callable[..., Any]]:
    """Return the assignment's function as expected values; () where dropout makes it random."""
    drops = [name for name in parts if name.startswith("drop")]
    usual = all(parts[name] is REFERENCE[name] for name in drops)
    still = {**parts, **dict.fromkeys(drops, stages.no_dropout)}

    def scaled_dot_product_attention(
        query: Array,
        key: Array,
        value: Array,
        attn_mask: Array | None = None,
        dropout_p: float = 0.0,
        training: object = True,
    ) -> tuple[Expected, ...]:
        if dropout_p and (training or not usual):
            return ()
        return stages.expected(still, query, key, value, attn_mask)

    return {"scaled_dot_product_attention": scaled_dot_product_attention}


def fixtures(draw: Draw) -> Mapping[str, object]:
    """What this assignment's criteria draw from."""
    return {"cases": AttentionCases(draw, heads=(3,), dtype="f4", mask_dtypes=("b1", "i8"))}


FLAWS: tuple[Flaw, ...] = (
    *scaling.FLAWS,
    scaling.BY_VALUES,
    scaling.KEYS_OVER_HEADS,
    *softmax.FLAWS,
    *softmax.RETURNED,
    *(flaw for flaw in mask_flaws.ATTENTION if flaw is not mask_flaws.POLARITY),
    mask_flaws.POLARITY_OF_FLOATS,
    mask_flaws.HEADS_MAJOR,
    mask_flaws.ALWAYS_CAUSAL,
    *behaving.FLAWS,
    behaving.ONE_ARRAY,
    behaving.VIEWS_INPUTS,
    *training_flaws.FLAWS,
)

PASS, GOOD, EXCELLENT = Level.PASS, Level.GOOD, Level.EXCELLENT

SPEC = Spec(
    name="torch_sdpa",
    title="scaled_dot_product_attention in PyTorch",
    brief=brief("torch_sdpa"),
    next_questions=ask_next(46, 65, 47, 31),
    starter=starter("torch_sdpa"),
    arrays="torch",
    image="torch",
    entry_points=(
        EntryPoint(
            role="attention",
            name="scaled_dot_product_attention",
            parameters=("q", "k", "v", "attn_mask", "dropout_p", "training"),
            returns=("out", "weights"),
            headed=True,
            mask_shapes=("qk", "b11k", "b1qk", "bhqk"),
            optional=3,
            aliases=ATTENTION_NAMES,
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
        masking.causal_perturbation.at(PASS, points=2),
        masking.padding.at(PASS, points=2),
        behaviour.from_scratch.at(PASS, points=1, earns_with="definition"),
        core.sdpa_parity.at(PASS, points=1),
        masking.mask_broadcast.at(GOOD, points=2),
        behaviour.fully_masked_row.at(GOOD, points=2),
        behaviour.stable_softmax.at(GOOD, points=3),
        training.dropout_place.at(GOOD, points=2),
        training.dropout_scale.at(GOOD, points=1),
        training.dropout_off.at(GOOD, points=2),
        training.dtype_preserved.at(GOOD, points=1),
        behaviour.inputs_untouched.at(GOOD, points=2),
        behaviour.self_attention.at(GOOD, points=1),
        core.permutation.at(GOOD, points=1),
        behaviour.determinism.at(GOOD, points=1),
        training.gradients.at(EXCELLENT, points=4),
        training.masked_gradients.at(EXCELLENT, points=2),
        training.half_precision.at(EXCELLENT, points=2),
        training.additive_mask.at(EXCELLENT, points=2),
    ),
    reference=REFERENCE,
    flaws=FLAWS,
    assemble=assemble,
    expect=expect,
    fixtures=fixtures,
    styles=stages.STYLES,
    plain=plain_program("torch_sdpa", FLAWS),
    blocks_fused=True,
)
