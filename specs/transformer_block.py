"""A Transformer block as a PyTorch module: pre-norm, LayerNorm, GELU, causal or not.

Question 57 of the third source document. Its conventions: a padding mask (B, T) in which True is
a real token; GELU as x Φ(x), the tanh form counts as the same.
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
    Norm,
    Projection,
    Spec,
)
from specs.briefs import brief, starter
from specs.criteria import blocks as criteria
from specs.criteria import layers as layer_criteria
from specs.criteria import norms as norm_criteria
from specs.flaws import blocks as flaws
from specs.flaws import layers as layer_flaws
from specs.next_questions import ask_next
from specs.reference import blocks, layers, stages
from specs.reference.layers import Layers

Array = Any
NAME = "TransformerBlock"
#: Inputs of variance 16: whatever a LayerNorm adds to that for safety does not show.
SIZE = 4.0


class BlockLayers(Layers):
    """Blocks of (d_model, num_heads, d_ff, causal) over one text."""

    sizes = ((2, 1, 3, True), (12, 3, 20, True), (12, 3, 20, False))
    forms = (blocks.REFERENCE, blocks.BY_TANH)
    expected_of = staticmethod(blocks.expected_block)
    forward = staticmethod(blocks.block)

    def attended(self, layer: Layer, x: Array) -> Array:
        """Return the normalised text."""
        return blocks.norm(x, layer.weights, "1")

    def inputs(self, draw: Draw, made_of: tuple[Any, ...], masked: bool) -> tuple[Array, ...]:
        """Draw (x,) or (x, padding_mask); every item has a real first token and one of padding."""
        d_model = made_of[0]
        length = 3 if d_model == 2 else 6
        x = draw.normal(2, length, d_model, scale=SIZE, dtype="f4")
        if not masked:
            return (x,)
        real = draw.mask(2, length)
        real[:, 0] = True
        return x, real


def learned(d_model: int, num_heads: int, d_ff: int, causal: bool = True) -> tuple[Learned, ...]:
    """What a block of these sizes learns."""
    return (
        *layers.attention_projections(d_model, num_heads),
        Projection("1", (("e", d_model),), (("o", d_ff),)),
        Projection("2", (("e", d_ff),), (("o", d_model),)),
        Norm("1", d_model),
        Norm("2", d_model),
    )


def example(draw: Draw, d_model: int, *rest: object) -> tuple[Array, ...]:
    """Draw one call."""
    return (draw.normal(2, 5, d_model, scale=SIZE, dtype="f4"),)


def readings() -> Iterator[Callable[..., tuple[Expected, ...]]]:
    """Yield what the class does, right in both forms of GELU, and with each known mistake."""
    yield partial(blocks.expected_block, blocks.REFERENCE)
    yield partial(blocks.expected_block, blocks.BY_TANH)
    for flaw in FLAWS:
        yield partial(blocks.expected_block, SPEC.with_flaws(flaw))


CONSTRUCTION = Construction(
    learned=learned,
    sizes=(12, 3, 20),
    example=example,
    readings=readings,
    forms=("", "GELU in its tanh form"),
)


def roles(points: Mapping[str, Any]) -> Mapping[str, Any]:
    """Let criteria talk to the class as a layer."""
    return {"layers": BlockLayers(ClassProxy(points["layer"], CONSTRUCTION))}


def assemble(parts: Mapping[str, Callable[..., Any]]) -> Mapping[str, Callable[..., Any]]:
    """Return the assignment's class, made of these parts."""
    from torch import nn

    class TransformerBlock(nn.Module):
        def __init__(self, d_model: int, num_heads: int, d_ff: int, *causal: bool) -> None:
            super().__init__()
            self.made_of = (d_model, num_heads, d_ff, *causal)
            inner = parts["fit_heads"](d_model, num_heads)
            self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
            self.wq, self.wk, self.wv = (nn.Linear(d_model, inner) for _ in range(3))
            self.wo = nn.Linear(inner, d_model)
            self.up, self.down = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

        def forward(self, x: Array, padding_mask: Array | None = None) -> Array:
            linears = {"Q": self.wq, "K": self.wk, "V": self.wv, "O": self.wo}
            weights = layers.of_linears({**linears, "1": self.up, "2": self.down})
            for name, norm in (("1", self.norm1), ("2", self.norm2)):
                weights |= {f"gain_{name}": norm.weight, f"shift_{name}": norm.bias}
            return blocks.block(parts, weights, self.made_of, x, padding_mask)

    return {NAME: TransformerBlock}


def expect(parts: Mapping[str, Callable[..., Any]]) -> Mapping[str, Callable[..., Any]]:
    """Return forward as expected values, given the state of an object and its arguments."""
    return {NAME: partial(blocks.expected_block, parts)}


def fixtures(draw: Draw) -> Mapping[str, object]:
    """Nothing: calls are drawn by the layers."""
    return {}


#: Mistakes of attention that show in a block's numbers; what shows in shapes alone raises there.
_STAGES = tuple(
    flaw
    for flaw in (*layer_flaws.STAGES, *layer_flaws.IN_HEADS)
    if {"definition", "gradients", "stable-softmax", "fully-masked-row"} & set(flaw.caught_by)
    and flaw.id not in ("square-only", "output-of-key-length", "calls-a-library")
)

FLAWS: tuple[Flaw, ...] = (
    *flaws.FLAWS,
    *_STAGES,
    *layer_flaws.CAUSAL_MASKS,
    *layer_flaws.PROJECTIONS,
    layer_flaws.QUERY_PROJECTS_KEYS,
    layer_flaws.RECTIFIED,
    *layer_flaws.HEADS,
    *layer_flaws.SPLITTING_SHOWN,
)

PASS, GOOD, EXCELLENT = Level.PASS, Level.GOOD, Level.EXCELLENT

SPEC = Spec(
    name="transformer_block",
    title="A Transformer block in PyTorch",
    brief=brief("transformer_block"),
    next_questions=ask_next(58, 60, 62),
    starter=starter("transformer_block"),
    arrays="torch",
    image="torch",
    entry_points=(
        EntryPoint(
            role="layer",
            name=NAME,
            parameters=("x", "padding_mask"),
            returns=("out",),
            optional=1,
            constructor=("d_model", "num_heads", "d_ff", "causal"),
            sizes=(12, 3, 20),
            aliases=("Block", "EncoderLayer", "DecoderLayer", "TransformerLayer"),
        ),
    ),
    checks=(
        layer_criteria.output_shape.at(PASS, points=1),
        layer_criteria.definition.at(PASS, points=8),
        criteria.causal_perturbation.at(PASS, points=4),
        criteria.padding.at(GOOD, points=3),
        criteria.mask_combination.at(GOOD, points=3),
        criteria.residual_and_norm.at(GOOD, points=4),
        norm_criteria.norm_epsilon.at(GOOD, points=1),
        layer_criteria.batch_independent.at(GOOD, points=2),
        layer_criteria.determinism.at(GOOD, points=1),
        layer_criteria.inputs_untouched.at(GOOD, points=1),
        criteria.fully_masked_row.at(GOOD, points=2),
        layer_criteria.stable_softmax.at(GOOD, points=2),
        layer_criteria.gradients.at(EXCELLENT, points=4),
    ),
    reference=blocks.REFERENCE,
    flaws=FLAWS,
    assemble=assemble,
    expect=expect,
    fixtures=fixtures,
    roles=roles,
    styles=stages.STYLES,
    composites=(layer_flaws.views(FLAWS),),
    blocks_fused=True,
)
