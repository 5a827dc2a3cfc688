"""Attention in several heads as a PyTorch module.

Question 58 and section four of the third source document, and the follow-up question of the
second. Its convention: a boolean mask that broadcasts to (B, H, Tq, Tk), True means "may attend".
Head i is the i-th slice of the projected features, as in ``nn.MultiheadAttention``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from harness import (
    ClassProxy,
    Construction,
    Draw,
    EntryPoint,
    Expected,
    Flaw,
    Layer,
    Learned,
    Level,
    Spec,
)
from specs.briefs import brief, starter
from specs.criteria import attention as core
from specs.criteria import behaviour, masking, training
from specs.criteria import layers as layer_criteria
from specs.criteria.adapters import HeadCases, MultiHeadAttention
from specs.flaws import layers as flaws
from specs.flaws import masking as mask_flaws
from specs.flaws import scaling
from specs.next_questions import ask_next
from specs.reference import layers, stages
from specs.reference.layers import MULTI_HEAD, Layers, expected_multi_head, multi_head

Array = Any
NAME = "MultiHeadAttention"


class MultiLayers(Layers):
    """Layers of (d_model, num_heads), over three sources."""

    sizes = ((2, 1), (24, 3), (12, 3))
    forms = (MULTI_HEAD,)
    expected_of = staticmethod(expected_multi_head)
    forward = staticmethod(
        lambda parts, weights, made_of, *given: multi_head(parts, weights, made_of[1], *given)[0]
    )

    def inputs(self, draw: Draw, made_of: tuple[Any, ...], masked: bool) -> tuple[Array, ...]:
        """Draw (q, k, v) or (q, k, v, mask); the last size is square."""
        d_model, heads = made_of
        queries, keys = {24: (3, 5), 12: (5, 5)}.get(d_model, (2, 3))
        given = tuple(draw.normal(2, n, d_model, dtype="f4") for n in (queries, keys, keys))
        return (*given, draw.mask(2, heads, queries, keys)) if masked else given

    def cubes(self, draw: Draw) -> list[tuple[Layer, tuple[Array, ...]]]:
        """Draw four calls of three heads of width 3 over three tokens."""
        layer = self.proxy.drawn(draw, 9, 3)
        calls = [tuple(draw.normal(2, 3, 9, dtype="f4") for _ in range(3)) for _ in range(4)]
        return [(layer, call) for call in calls]

    def other_sources(self, x: Array) -> tuple[Array, ...]:
        """Return what forward takes besides the queries' source for self-attention."""
        return x, x


def learned(d_model: int, num_heads: int) -> tuple[Learned, ...]:
    """What a layer of these sizes learns."""
    return layers.attention_projections(d_model, num_heads)


def example(draw: Draw, d_model: int, num_heads: int) -> tuple[Array, ...]:
    """Draw one call."""
    return tuple(draw.normal(2, length, d_model, dtype="f4") for length in (3, 5, 5))


def readings() -> Iterator[Callable[..., tuple[Expected, ...]]]:
    """Yield what the class does, right and with each known mistake."""
    yield partial(expected_multi_head, MULTI_HEAD)
    for flaw in FLAWS:
        yield partial(expected_multi_head, SPEC.with_flaws(flaw))


CONSTRUCTION = Construction(learned=learned, sizes=(24, 3), example=example, readings=readings)


def roles(points: Mapping[str, Any]) -> Mapping[str, Any]:
    """Let criteria talk to the class as a layer, and as attention."""
    proxy = ClassProxy(points["layer"], CONSTRUCTION)
    return {"layers": MultiLayers(proxy), "attention": MultiHeadAttention(proxy)}


def assemble(parts: Mapping[str, Callable[..., Any]]) -> Mapping[str, Callable[..., Any]]:
    """Return the assignment's class, made of these parts."""
    from torch import nn

    class MultiHeadAttention(nn.Module):
        def __init__(self, d_model: int, num_heads: int) -> None:
            super().__init__()
            self.num_heads = num_heads
            inner = parts["fit_heads"](d_model, num_heads)
            self.wq, self.wk, self.wv = (nn.Linear(d_model, inner) for _ in range(3))
            self.wo = nn.Linear(inner, d_model)

        def forward(self, q: Array, k: Array, v: Array, mask: Array | None = None) -> Array:
            linears = {"Q": self.wq, "K": self.wk, "V": self.wv, "O": self.wo}
            weights = layers.of_linears(linears)
            return multi_head(parts, weights, self.num_heads, q, k, v, mask)[0]

    return {NAME: MultiHeadAttention}


def expect(parts: Mapping[str, Callable[..., Any]]) -> Mapping[str, Callable[..., Any]]:
    """Return forward as expected values, given the state of an object and its arguments."""
    return {NAME: partial(expected_multi_head, parts)}


def fixtures(draw: Draw) -> Mapping[str, object]:
    """What this assignment's criteria draw from."""
    return {"cases": HeadCases(draw, heads=(3,), dtype="f4")}


FLAWS: tuple[Flaw, ...] = (
    *flaws.STAGES,
    flaws.ONE_TENSOR,
    *flaws.IN_HEADS,
    *flaws.KEEPING,
    *flaws.SOURCES,
    *flaws.PROJECTIONS,
    flaws.QUERY_PROJECTS_KEYS,
    *flaws.HEADS,
    *flaws.SPLITTING,
    flaws.NOT_MOVED,
    mask_flaws.ALWAYS_CAUSAL,
    scaling.KEYS_OVER_HEADS,
    flaws.RECTIFIED_WITH_OUTPUT,
    *flaws.INSIDE,
)

PASS, GOOD, EXCELLENT = Level.PASS, Level.GOOD, Level.EXCELLENT

SPEC = Spec(
    name="torch_multi_head",
    title="Multi-head attention in PyTorch",
    brief=brief("torch_multi_head"),
    next_questions=ask_next(34, 58, 57),
    starter=starter("torch_multi_head"),
    arrays="torch",
    image="torch",
    entry_points=(
        EntryPoint(
            role="layer",
            name=NAME,
            parameters=("q", "k", "v", "mask"),
            returns=("out",),
            headed=True,
            optional=1,
            constructor=("d_model", "num_heads"),
            sizes=(12, 3),
            aliases=(
                "MultiHeadAttention",
                "MultiheadAttention",
                "MHA",
                "SelfAttention",
                "Attention",
            ),
            mask_shapes=("qk", "b11k", "b1qk", "bhqk"),
        ),
    ),
    checks=(
        layer_criteria.output_shape.at(PASS, points=1),
        layer_criteria.definition.at(PASS, points=6),
        core.scale.at(PASS, points=3),
        core.softmax_axis.at(PASS, points=3),
        layer_criteria.head_split.at(PASS, points=4),
        layer_criteria.separate_projections.at(PASS, points=3),
        layer_criteria.output_projection.at(PASS, points=3),
        masking.mask_before_softmax.at(PASS, points=3),
        masking.mask_value.at(PASS, points=2),
        masking.mask_polarity.at(PASS, points=2),
        masking.padding.at(PASS, points=2),
        masking.causal_perturbation.at(PASS, points=2),
        layer_criteria.self_and_cross.at(PASS, points=2),
        behaviour.from_scratch.at(PASS, points=1, earns_with="definition"),
        layer_criteria.heads_independent.at(GOOD, points=2),
        layer_criteria.multi_head_parity.at(GOOD, points=2),
        masking.mask_broadcast.at(GOOD, points=2),
        behaviour.fully_masked_row.at(GOOD, points=2),
        behaviour.stable_softmax.at(GOOD, points=3),
        training.dtype_preserved.at(GOOD, points=1),
        behaviour.inputs_untouched.at(GOOD, points=2),
        layer_criteria.self_attention.at(GOOD, points=1),
        behaviour.determinism.at(GOOD, points=1),
        behaviour.batch_independent.at(GOOD, points=1),
        layer_criteria.gradients.at(EXCELLENT, points=4),
        training.half_precision.at(EXCELLENT, points=2),
        training.masked_gradients.at(EXCELLENT, points=2),
    ),
    reference=MULTI_HEAD,
    flaws=FLAWS,
    assemble=assemble,
    expect=expect,
    fixtures=fixtures,
    roles=roles,
    styles=stages.STYLES,
    composites=flaws.composites(FLAWS),
    blocks_fused=True,
)
