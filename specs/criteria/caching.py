"""What a cache must do: nothing but save work. Every way to feed a text gives the same output."""

from __future__ import annotations

import numpy as np

from harness import Draw, Expected, Facet, Judge, Stage, criterion
from specs.reference.layers import Layers

#: Length of the texts that are fed; no divisor of any width.
LENGTH = 7
#: Lengths of the prefix in ``kv_cost``, and features of its layer.
PREFIX, WIDTH = 16, 12


def _judge_chunks(layers: Layers, draw: Draw, judge: Judge, chunks: tuple[int, ...]) -> None:
    """Require a text that is fed chunk by chunk to give what it gives as a whole.

    The whole goes through another object with the same weights, so that an object which
    remembers shows in ``kv_second_prompt`` only.
    """
    for made_of in layers.sizes[1:]:
        whole, fed = layers.proxy.drawn(draw, *made_of), layers.proxy.make(*made_of)
        fed.set(whole.weights)
        x = draw.normal(2, LENGTH, made_of[0], dtype="f4")
        (returned,) = layers.proxy.each([(whole, (x,))])
        expected = layers.expected(whole, (x,))
        out = judge.shape(returned["out"], expected.values.shape, "out of the whole text")
        own = layers.own(judge.finite(out, "out of the whole text").values, whole, (x,))
        ends = np.cumsum(chunks)
        pieces = np.split(x, ends[:-1], axis=1)
        (answers,) = layers.proxy.run_incrementally(fed, [pieces])
        for answer, piece, end in zip(answers, pieces, ends, strict=True):
            start = end - piece.shape[1]
            part = own.at((slice(None), slice(start, end)))
            where = f"positions {start} to {end - 1}" if start < end - 1 else f"position {start}"
            judge.close(answer["out"], part, f"out of {where}")


@criterion(
    facet=Facet.BEHAVIOUR,
    stage=Stage.CACHE,
    hint="Append the new keys and values to those in the cache and let the new query see them all, "
    "its own included.",
    earns_with="definition",
)
def kv_one_by_one(layers: Layers, draw: Draw, judge: Judge):
    """Position by position gives the same as the full causal pass."""
    _judge_chunks(layers, draw, judge, (1,) * LENGTH)


@criterion(
    facet=Facet.BEHAVIOUR,
    stage=Stage.CACHE,
    hint="Inside a chunk the causal mask holds as well, aligned to the end: query i of n sees all "
    "keys but the last n - 1 - i.",
    earns_with="definition",
)
def kv_chunks(layers: Layers, draw: Draw, judge: Judge):
    """Chunks of several positions give the same as the full causal pass."""
    _judge_chunks(layers, draw, judge, (2, 3, 2))


@criterion(
    facet=Facet.BEHAVIOUR,
    stage=Stage.CACHE,
    hint="The first call without a cache is causal, too, and returns a cache that holds every "
    "position of the prompt.",
    earns_with="definition",
)
def kv_prefill(layers: Layers, draw: Draw, judge: Judge):
    """A prompt at once and then position by position gives the same as the full causal pass."""
    _judge_chunks(layers, draw, judge, (4, 1, 1, 1))


@criterion(
    facet=Facet.BEHAVIOUR,
    stage=Stage.CACHE,
    hint="Keep the cache in what you return, not in the module: cache=None starts a new text.",
    earns_with="definition",
)
def kv_second_prompt(layers: Layers, draw: Draw, judge: Judge):
    """A second prompt on the same object starts clean."""
    for made_of in layers.sizes[1:]:
        used, new = layers.proxy.drawn(draw, *made_of), layers.proxy.make(*made_of)
        new.set(used.weights)
        first, second = (draw.normal(2, n, made_of[0], dtype="f4") for n in (5, LENGTH))
        chunks = [second[:, :4], second[:, 4:5], second[:, 5:]]
        _, again = layers.proxy.run_incrementally(used, [[first[:, :4], first[:, 4:]], chunks])
        (alone,) = layers.proxy.run_incrementally(new, [chunks])
        bound = layers.expected(new, (second,)).roundoffs
        ends = np.cumsum([chunk.shape[1] for chunk in chunks])
        for answer, fresh, chunk, end in zip(again, alone, chunks, ends, strict=True):
            rounding = 2 * bound[:, end - chunk.shape[1] : end]
            out = judge.shape(fresh["out"], rounding.shape, "out of a first prompt")
            values = judge.finite(out, "out of a first prompt").values.astype(np.float64)
            judge.close(answer["out"], Expected(values, rounding), "out of a second prompt")


@criterion(
    facet=Facet.EFFICIENCY,
    hint="Project the new positions only and keep the keys and values of the others: a step then "
    "grows by two products per earlier position, not by projections.",
    earns_with="definition",
)
def kv_cost(layers: Layers, draw: Draw, judge: Judge):
    """A decoding step does not project earlier positions again.

    Multiplications and additions of matrix products, counted in the sandbox: with D features a
    step grows by 4·D for each position held, Q·K and the sum over V. Projecting K and V again
    would add 4·D². The limit is twice the first.
    """
    layer = layers.proxy.drawn(draw, WIDTH, 3)
    x = draw.normal(1, 1, WIDTH, dtype="f4")
    counts = []
    for length in (PREFIX, 2 * PREFIX):
        prefix = draw.normal(1, length, WIDTH, dtype="f4")
        counts.append(layers.proxy.cost(layer, prefix, x))
    short, long = counts
    if not short or not long:
        judge.note("the operations of a step could not be counted")
        return
    said = (
        f"a step after {PREFIX} positions takes {short:,} operations, after {2 * PREFIX} {long:,}"
    )
    growth = (long - short) / PREFIX
    judge.require(
        growth <= 8 * WIDTH,
        f"{said}: {growth:.0f} more for each position held, expected about {4 * WIDTH}",
    )
    judge.note(said)
