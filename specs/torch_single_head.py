"""One head of attention as a PyTorch module, over one source or two.

The class of the second source document. Its convention: a boolean mask of full shape in which
True means "blocked".

Slip of the document, encoded right: it describes the causal mask as True on "the main diagonal
and above". With True as "blocked" that keeps every position from itself and leaves row 0 with
nothing; right is strictly above the diagonal. It fills with -1e9, so that a row that is blocked
throughout becomes the mean of V: any finite value is accepted.
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
    Facet,
    Flaw,
    Judge,
    Learned,
    Level,
    Projection,
    Spec,
    Stage,
    criterion,
)
from specs.briefs import brief, starter
from specs.criteria import attention as core
from specs.criteria import behaviour, masking, training
from specs.criteria import layers as layer_criteria
from specs.criteria.adapters import OneHeadAttention
from specs.criteria.cases import AttentionCases
from specs.flaws import layers as flaws
from specs.flaws import masking as mask_flaws
from specs.flaws import scaling
from specs.next_questions import ask_next
from specs.reference import layers, stages
from specs.reference.layers import ONE_HEAD, Layers, expected_one_head, one_head

Array = Any
NAME = "OneHeadAttention"


@criterion(
    facet=Facet.BEHAVIOUR,
    stage=Stage.MASK,
    hint="Read the brief's mask: here True means that the query may not see the key.",
    earns_with="definition",
)
def mask_polarity(attention, cases: AttentionCases, judge: Judge):
    """True means "blocked": a query that may see one key receives that key's value."""
    masking.mask_polarity.body(attention, cases, judge)


class SingleLayers(Layers):
    """Layers of (emb_size, qk_size, v_size), over two sources."""

    sizes = ((2, 2, 2), (7, 4, 5), (6, 4, 4))
    forms = (ONE_HEAD,)
    expected_of = staticmethod(expected_one_head)
    forward = staticmethod(
        lambda parts, weights, made_of, *given: one_head(parts, weights, *given)[0]
    )

    def inputs(self, draw: Draw, made_of: tuple[Any, ...], masked: bool) -> tuple[Array, ...]:
        """Draw (x_q, x_kv) or (x_q, x_kv, blocked); the last size is square."""
        emb_size = made_of[0]
        queries, keys = {2: (2, 3), 6: (5, 5)}.get(emb_size, (3, 5))
        x_q, x_kv = (draw.normal(2, n, emb_size, dtype="f4") for n in (queries, keys))
        return (x_q, x_kv, ~draw.mask(2, queries, keys)) if masked else (x_q, x_kv)

    def other_sources(self, x: Array) -> tuple[Array, ...]:
        """Return what forward takes besides the queries' source for self-attention."""
        return (x,)


def learned(emb_size: int, qk_size: int, v_size: int) -> tuple[Learned, ...]:
    """What a layer of these sizes learns."""
    sizes = {"Q": qk_size, "K": qk_size, "V": v_size}
    return tuple(
        Projection(name, (("e", emb_size),), (("d", size),), "attention")
        for name, size in sizes.items()
    )


def example(draw: Draw, emb_size: int, qk_size: int, v_size: int) -> tuple[Array, ...]:
    """Draw one call."""
    return draw.normal(2, 3, emb_size, dtype="f4"), draw.normal(2, 4, emb_size, dtype="f4")


def readings() -> Iterator[Callable[..., tuple[Expected, ...]]]:
    """Yield what the class does, right and with each known mistake."""
    yield partial(expected_one_head, ONE_HEAD)
    for flaw in FLAWS:
        yield partial(expected_one_head, SPEC.with_flaws(flaw))


CONSTRUCTION = Construction(learned=learned, sizes=(7, 4, 5), example=example, readings=readings)


def roles(points: Mapping[str, Any]) -> Mapping[str, Any]:
    """Let criteria talk to the class as a layer, and as attention."""
    proxy = ClassProxy(points["layer"], CONSTRUCTION)
    return {"layers": SingleLayers(proxy), "attention": OneHeadAttention(proxy)}


def assemble(parts: Mapping[str, Callable[..., Any]]) -> Mapping[str, Callable[..., Any]]:
    """Return the assignment's class, made of these parts."""
    from torch import nn

    class OneHeadAttention(nn.Module):
        def __init__(self, emb_size: int, qk_size: int, v_size: int) -> None:
            super().__init__()
            self.wq = nn.Linear(emb_size, qk_size)
            self.wk = nn.Linear(emb_size, qk_size)
            self.wv = nn.Linear(emb_size, v_size)

        def forward(self, x_q: Array, x_kv: Array, mask: Array | None = None) -> Array:
            weights = layers.of_linears({"Q": self.wq, "K": self.wk, "V": self.wv})
            return one_head(parts, weights, x_q, x_kv, mask)[0]

    return {NAME: OneHeadAttention}


def expect(parts: Mapping[str, Callable[..., Any]]) -> Mapping[str, Callable[..., Any]]:
    """Return forward as expected values, given the state of an object and its arguments."""
    return {NAME: lambda *given: expected_one_head(parts, *given)}


def fixtures(draw: Draw) -> Mapping[str, object]:
    """What this assignment's criteria draw from."""
    return {"cases": AttentionCases(draw, heads=(), dtype="f4")}


FLAWS: tuple[Flaw, ...] = (
    *flaws.STAGES,
    flaws.ONE_TENSOR,
    scaling.BY_VALUES,
    mask_flaws.ALWAYS_CAUSAL,
    flaws.RECTIFIED,
    *flaws.BLOCKING,
    *flaws.SOURCES,
    *(flaw for flaw in flaws.PROJECTIONS if "shared" not in flaw.id and "values" not in flaw.id),
    flaws.QUERY_PROJECTS_KEYS,
    flaws.SCALE_BY_INPUTS,
)

PASS, GOOD, EXCELLENT = Level.PASS, Level.GOOD, Level.EXCELLENT

SPEC = Spec(
    name="torch_single_head",
    title="Single-head attention in PyTorch",
    brief=brief("torch_single_head"),
    next_questions=ask_next(13, 61, 31, 33),
    starter=starter("torch_single_head"),
    arrays="torch",
    image="torch",
    entry_points=(
        EntryPoint(
            role="layer",
            name=NAME,
            parameters=("x_q", "x_kv", "mask"),
            returns=("out",),
            optional=1,
            constructor=("emb_size", "qk_size", "v_size"),
            sizes=(12, 4, 5),
            aliases=("SelfAttention", "Attention", "SingleHeadAttention", "CrossAttention", "Head"),
            blocking=True,
            mask_shapes=("bqk",),
        ),
    ),
    checks=(
        layer_criteria.output_shape.at(PASS, points=1),
        layer_criteria.definition.at(PASS, points=6),
        core.scale.at(PASS, points=3),
        core.softmax_axis.at(PASS, points=3),
        masking.mask_before_softmax.at(PASS, points=3),
        masking.mask_value.at(PASS, points=2),
        mask_polarity.at(PASS, points=2),
        masking.padding.at(PASS, points=2),
        masking.causal_perturbation.at(PASS, points=2),
        layer_criteria.self_and_cross.at(PASS, points=2),
        layer_criteria.separate_projections.at(PASS, points=3),
        behaviour.from_scratch.at(PASS, points=1, earns_with="definition"),
        behaviour.fully_masked_row.at(GOOD, points=2),
        behaviour.stable_softmax.at(GOOD, points=3),
        training.dtype_preserved.at(GOOD, points=1),
        behaviour.inputs_untouched.at(GOOD, points=2),
        layer_criteria.self_attention.at(GOOD, points=1),
        behaviour.determinism.at(GOOD, points=1),
        layer_criteria.gradients.at(EXCELLENT, points=4),
        training.half_precision.at(EXCELLENT, points=2),
        training.masked_gradients.at(EXCELLENT, points=2),
    ),
    reference=ONE_HEAD,
    flaws=FLAWS,
    assemble=assemble,
    expect=expect,
    fixtures=fixtures,
    roles=roles,
    styles=stages.STYLES,
    blocks_fused=True,
)
