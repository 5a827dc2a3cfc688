"""Mistakes of a cache: what it holds, whom it lets see what, and when it starts afresh."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from harness import Flaw, Stage
from specs.reference.caching import context, join
from specs.reference.layers import Weights
from specs.reference.stages import library

Array = Any

cache = partial(Flaw, stage=Stage.CACHE)

ASK_ALIGNMENT = "3 positions are cached and 2 new ones come: write the 2 × 5 mask."
ANSWER_ALIGNMENT = "1 1 1 1 0 and 1 1 1 1 1: aligned to the end, torch.tril with diagonal Tk - Tq."


def seen_from_the_start(queries: int, keys: int, first: bool) -> np.ndarray[Any, Any]:
    """A lower triangle from the top left corner."""
    return np.tri(queries, keys, dtype=bool)


def chunks_from_the_start(queries: int, keys: int, first: bool) -> np.ndarray[Any, Any]:
    """No mask for a single query, and a triangle from the top left corner for several."""
    return np.tri(queries, keys, keys if queries == 1 else 0, dtype=bool)


def one_ahead(queries: int, keys: int, first: bool) -> np.ndarray[Any, Any]:
    """A lower triangle with one diagonal too many."""
    return np.tri(queries, keys, keys - queries + 1, dtype=bool)


def unmasked_with_cache(queries: int, keys: int, first: bool) -> np.ndarray[Any, Any]:
    """A causal mask in the first call only."""
    return np.tri(queries, keys, keys - queries, dtype=bool) | (not first)


def unmasked_at_first(queries: int, keys: int, first: bool) -> np.ndarray[Any, Any]:
    """No causal mask in the first call."""
    return np.tri(queries, keys, keys - queries, dtype=bool) | first


def never_masked(queries: int, keys: int, first: bool) -> np.ndarray[Any, Any]:
    """No causal mask at all."""
    return np.ones((queries, keys), dtype=bool)


def single_only(queries: int, keys: int, first: bool) -> np.ndarray[Any, Any]:
    """The last row of a mask that was made for the whole, whatever the number of queries."""
    whole = np.tri(keys, dtype=bool)
    return whole if first else whole[-1:] if queries == 1 else whole[:queries, : keys - 1]


def without_itself(queries: int, keys: int, first: bool) -> np.ndarray[Any, Any]:
    """With a cache, a position sees the earlier ones and not itself."""
    seen = np.tri(queries, keys, keys - queries, dtype=bool)
    return seen if first else np.tri(queries, keys, keys - queries - 1, dtype=bool)


def whatever_is_left(memory: dict[str, Any], given: Any) -> Any:
    """Go on with what the object holds when no cache comes."""
    return memory.get("held") if given is None else given


def last_chunk_held(
    parts: Any, weights: Weights, count: int, past: Any, x: Array
) -> tuple[Array, Array, Any]:
    """Hold the newest keys and values only."""
    key, value, _ = context(parts, weights, count, past, x)
    return key, value, context(parts, weights, count, None, x)[2]


def keys_held_as_values(
    parts: Any, weights: Weights, count: int, past: Any, x: Array
) -> tuple[Array, Array, Any]:
    """Hold the keys twice."""
    key, value, _ = context(parts, weights, count, past, x)
    return key, value, (key, key)


def prepended(
    parts: Any, weights: Weights, count: int, past: Any, x: Array
) -> tuple[Array, Array, Any]:
    """Put the new keys and values before the earlier ones."""
    key, value, held = context(parts, weights, count, None, x)
    if past is not None:
        key, value = join(key, past[0]), join(value, past[1])
        held = key, value
    return key, value, held


def projected_again(
    parts: Any, weights: Weights, count: int, past: Any, x: Array
) -> tuple[Array, Array, Any]:
    """Hold the inputs, and project all of them in every step."""
    if past is not None:
        xp = library(x)
        x = np.concatenate([past, x], 1) if xp is np else xp.cat([past, x], 1)
    key, value, _ = context(parts, weights, count, None, x)
    return key, value, x


FLAWS = (
    cache(
        id="mask-aligned-top-left",
        title="a causal mask aligned to the start: new queries do not see the cached keys",
        parts={"see": seen_from_the_start},
        caught_by=("kv-one-by-one", "kv-chunks", "kv-prefill"),
        question=ASK_ALIGNMENT,
        answer=ANSWER_ALIGNMENT,
    ),
    cache(
        id="chunk-aligned-top-left",
        title="a chunk's causal mask aligned to the start: its queries do not see the cached keys",
        parts={"see": chunks_from_the_start},
        caught_by=("kv-chunks",),
        question=ASK_ALIGNMENT,
        answer=ANSWER_ALIGNMENT,
    ),
    cache(
        id="causal-one-ahead",
        title="a causal mask that lets each position see the next one",
        parts={"see": one_ahead},
        caught_by=("kv-one-by-one", "kv-chunks", "definition"),
        question=ASK_ALIGNMENT,
        answer=ANSWER_ALIGNMENT,
    ),
    cache(
        id="chunk-unmasked",
        title="no causal mask inside a chunk once there is a cache",
        parts={"see": unmasked_with_cache},
        caught_by=("kv-chunks",),
        question=ASK_ALIGNMENT,
        answer=ANSWER_ALIGNMENT,
    ),
    cache(
        id="prefill-unmasked",
        title="no causal mask in the first call, where there is no cache yet",
        parts={"see": unmasked_at_first},
        caught_by=("kv-one-by-one", "kv-chunks", "kv-prefill", "definition"),
        question="Training loss was fine and generation is garbage. Which call never had a mask?",
        answer="The prefill: a prompt goes in at once and must be causal like everything else.",
    ),
    cache(
        id="never-causal",
        title="no causal mask at all",
        parts={"see": never_masked},
        caught_by=("kv-one-by-one", "kv-chunks", "definition"),
        question="Decoding position by position is right without a mask. Why, and when is it not?",
        answer="The future is not there yet; it is, inside a prompt or a chunk.",
    ),
    cache(
        id="single-steps-only",
        title="a mask that fits single steps only",
        parts={"see": single_only},
        caught_by=("kv-chunks",),
        question=ASK_ALIGNMENT,
        answer=ANSWER_ALIGNMENT,
    ),
    cache(
        id="position-not-its-own",
        title="a new position that does not see itself",
        parts={"see": without_itself},
        caught_by=("kv-one-by-one", "kv-chunks", "kv-prefill"),
        question="In which order are the new key appended and the scores computed?",
        answer="Append first: a position attends to itself as well.",
    ),
    cache(
        id="stale-cache",
        title="a cache that is kept in the object and survives into the next prompt",
        parts={"recall": whatever_is_left},
        caught_by=("kv-second-prompt",),
        question="Two users share your model. What does the second one's first token attend to?",
        answer="Nothing but itself, if cache=None starts afresh; the first one's text, if not.",
    ),
    cache(
        id="last-chunk-held",
        title="a cache that holds the newest keys and values only",
        parts={"context": last_chunk_held},
        caught_by=("kv-one-by-one", "kv-chunks", "kv-prefill"),
        question="What is in your cache after three steps, and of which shape?",
        answer="The keys and values of all three positions, (B, H, 3, d) each.",
    ),
    cache(
        id="keys-held-as-values",
        title="keys held in the place of the values",
        parts={"context": keys_held_as_values},
        caught_by=("kv-one-by-one", "kv-chunks", "kv-prefill"),
        question="What is in your cache after three steps, and of which shape?",
        answer="The keys and values of all three positions, (B, H, 3, d) each.",
    ),
    cache(
        id="cache-prepended",
        title="new keys put before the cached ones",
        parts={"context": prepended},
        caught_by=("kv-chunks",),
        question="Without positions in the keys, does the order of the cache matter?",
        answer="For single steps no; for chunks the causal mask counts keys from the end.",
    ),
    cache(
        id="projects-again",
        hidden=True,
        title="a cache of inputs, all of which are projected in every step",
        parts={"context": projected_again},
        caught_by=("kv-cost",),
        question="How many operations does one decoding step take at length T, with and without?",
        answer="4·T·D for scores and sum with a cache; projecting K and V again adds 4·T·D².",
    ),
)
