"""Causal multi-head attention with a cache, as a PyTorch module.

Question 29 of the third source document, and the decoding of the first. Its convention: queries
are aligned to the end of the keys; the cache is the candidate's own affair and is only handed
back.
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
    Learned,
    Level,
    Spec,
)
from specs.briefs import brief, starter
from specs.criteria import caching as criteria
from specs.criteria import layers as layer_criteria
from specs.flaws import caching as flaws
from specs.flaws import layers as layer_flaws
from specs.next_questions import ask_next
from specs.reference import caching, layers, stages
from specs.reference.layers import Layers

Array = Any
NAME = "CachedAttention"


class CachedLayers(Layers):
    """Layers of (d_model, num_heads) over one causal text."""

    sizes = ((2, 1), (24, 3), (12, 3))
    forms = (caching.REFERENCE,)
    expected_of = staticmethod(caching.expected_step)
    forward = staticmethod(caching.forward)

    def inputs(self, draw: Draw, made_of: tuple[Any, ...], masked: bool) -> tuple[Array, ...]:
        """Draw (x,); there is no mask to draw."""
        d_model, _ = made_of
        return (draw.normal(2, {2: 3, 24: 7}.get(d_model, 5), d_model, dtype="f4"),)


def learned(d_model: int, num_heads: int) -> tuple[Learned, ...]:
    """What a layer of these sizes learns."""
    return layers.attention_projections(d_model, num_heads)


def example(draw: Draw, d_model: int, num_heads: int) -> tuple[Array, ...]:
    """Draw one call."""
    return (draw.normal(2, 5, d_model, dtype="f4"),)


def readings() -> Iterator[Callable[..., tuple[Expected, ...]]]:
    """Yield what the class does, right and with each known mistake."""
    yield partial(caching.expected_step, caching.REFERENCE)
    for flaw in FLAWS:
        yield partial(caching.expected_step, SPEC.with_flaws(flaw))


CONSTRUCTION = Construction(learned=learned, sizes=(24, 3), example=example, readings=readings)


def roles(points: Mapping[str, Any]) -> Mapping[str, Any]:
    """Let criteria talk to the class as a layer."""
    return {"layers": CachedLayers(ClassProxy(points["layer"], CONSTRUCTION))}


def assemble(parts: Mapping[str, Callable[..., Any]]) -> Mapping[str, Callable[..., Any]]:
    """Return the assignment's class, made of these parts."""
    from torch import nn

    class CachedAttention(nn.Module):
        def __init__(self, d_model: int, num_heads: int) -> None:
            super().__init__()
            self.num_heads = num_heads
            inner = parts["fit_heads"](d_model, num_heads)
            self.wq, self.wk, self.wv = (nn.Linear(d_model, inner) for _ in range(3))
            self.wo = nn.Linear(inner, d_model)
            self.memory: dict[str, Any] = {}

        def forward(self, x: Array, cache: Any = None) -> Any:
            linears = {"Q": self.wq, "K": self.wk, "V": self.wv, "O": self.wo}
            weights = layers.of_linears(linears)
            out, held, _ = caching.step(parts, weights, self.num_heads, self.memory, x, cache)
            return out, held

    return {NAME: CachedAttention}


def expect(parts: Mapping[str, Callable[..., Any]]) -> Mapping[str, Callable[..., Any]]:
    """Return forward as expected values, given the state of an object and its arguments."""
    return {NAME: partial(caching.expected_step, parts)}


def fixtures(draw: Draw) -> Mapping[str, object]:
    """Nothing: calls are drawn by the layers."""
    return {}


#: Unmasked numbers, as far as they show in ordinary texts.
_SHOWN = frozenset({"definition", "batch-independent", "stable-softmax"})
_STAGES = tuple(
    flaw
    for flaw in (*layer_flaws.STAGES, *layer_flaws.IN_HEADS)
    if _SHOWN & set(flaw.caught_by) and flaw.id not in ("square-only", "output-of-key-length")
)
FLAWS: tuple[Flaw, ...] = (
    *flaws.FLAWS,
    *_STAGES,
    *layer_flaws.CAUSAL_MASKS,
    *(flaw for flaw in layer_flaws.PROJECTIONS if flaw.id != "projection-untrained"),
    layer_flaws.QUERY_PROJECTS_KEYS,
    layer_flaws.RECTIFIED,
    *layer_flaws.HEADS,
    *layer_flaws.SPLITTING_SHOWN,
)

PASS, GOOD, EXCELLENT = Level.PASS, Level.GOOD, Level.EXCELLENT

SPEC = Spec(
    name="kv_cache",
    title="Attention with a key-value cache in PyTorch",
    brief=brief("kv_cache"),
    next_questions=ask_next(29, 28, 40),
    starter=starter("kv_cache"),
    arrays="torch",
    image="torch",
    entry_points=(
        EntryPoint(
            role="layer",
            name=NAME,
            parameters=("x", "cache"),
            returns=("out", "cache"),
            optional=1,
            constructor=("d_model", "num_heads"),
            sizes=(12, 3),
            aliases=("CausalSelfAttention", "MultiHeadAttention", "Attention", "KVCacheAttention"),
        ),
    ),
    checks=(
        layer_criteria.output_shape.at(PASS, points=1),
        layer_criteria.definition.at(PASS, points=6),
        criteria.kv_one_by_one.at(PASS, points=6),
        criteria.kv_chunks.at(GOOD, points=4),
        criteria.kv_prefill.at(GOOD, points=3),
        criteria.kv_second_prompt.at(GOOD, points=3),
        layer_criteria.batch_independent.at(GOOD, points=2),
        layer_criteria.stable_softmax.at(GOOD, points=2),
        criteria.kv_cost.at(EXCELLENT, points=0),
    ),
    reference=caching.REFERENCE,
    flaws=FLAWS,
    assemble=assemble,
    expect=expect,
    fixtures=fixtures,
    roles=roles,
    styles=stages.STYLES,
    composites=(layer_flaws.views(FLAWS),),
    blocks_fused=True,
)
