"""Mistakes of attention in blocks: rescaling, last blocks, blocks of the mask, memory."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any

import numpy as np

from harness import Flaw, Stage
from specs.flaws import masking, scaling, softmax
from specs.reference import online, stages

Array = Any

CORE = "online-equals-full"

rescaling = partial(
    Flaw,
    stage=Stage.NORMALISE,
    caught_by=(CORE,),
    question="A new block brings a larger score. What happens to the sum and the output so far?",
    answer="Both are multiplied by exp(old maximum - new maximum); the division comes at the end.",
)
stability = partial(
    Flaw,
    stage=Stage.NORMALISE,
    caught_by=("stable-softmax",),
    question=softmax.ASK_STABLE,
    answer=softmax.ANSWER_STABLE,
)
ragged = partial(
    Flaw,
    stage=Stage.SCORE,
    caught_by=("online-ragged",),
    question="7 keys in blocks of 3: which keys are in the last block?",
    answer="Key 6 alone; slices end at min(start + size, Tk), and nothing is padded or left out.",
)
masked = partial(Flaw, stage=Stage.MASK)
memory = partial(
    Flaw,
    stage=Stage.SCORE,
    caught_by=("memory-growth",),
    question="Which array of yours has Tq × Tk numbers, and how large is it at T = 100,000?",
    answer="None should: 80 GB in float64. A block of scores, and one sum per row, are enough.",
)


def alone(logits: Array, peak: Array) -> Array:
    """Softmax over one block."""
    return stages.softmax(logits)


def unchanged(before: Array, after: Array) -> float:
    """Leave the sums so far as they are."""
    return 1.0


def grown(before: Array, after: Array) -> Array:
    """exp(new - old), the reciprocal of the right factor."""
    known = np.isfinite(before)
    return np.where(known, np.exp(after - np.where(known, before, 0.0)), 0.0)


def first_peak(before: Array, logits: Array) -> Array:
    """Keep the maximum of the first block."""
    return np.where(np.isfinite(before), before, logits.max(-1, keepdims=True))


def from_zero(before: Array, logits: Array) -> Array:
    """Begin with a maximum of 0."""
    return np.maximum(np.maximum(before, 0.0), logits.max(-1, keepdims=True))


def of_everything(before: Array, logits: Array) -> Array:
    """Take one maximum for all rows and items."""
    return np.broadcast_to(np.maximum(before, logits.max()).max(), before.shape)


def whole_blocks(keys: int, size: int) -> list[slice]:
    """Leave out what does not fill a block."""
    return [slice(begin, begin + size) for begin in range(0, keys - size + 1, size)]


def dividing_only(keys: int, size: int) -> list[slice]:
    """Refuse what does not divide."""
    if keys % size:
        raise ValueError(f"{keys} keys do not divide into blocks of {size}")
    return online.blocks(keys, size)


def overlapping(keys: int, size: int) -> list[slice]:
    """Begin the last block early, so that it is full and some keys count twice."""
    return [slice(max(0, min(begin, keys - size)), keys if begin + size > keys else begin + size)
            for begin in range(0, keys, size)]  # fmt: skip


def zeros_behind(key: Array, value: Array, size: int) -> tuple[Array, Array]:
    """Fill the last block with keys and values of 0, whose scores of 0 count."""
    missing = -key.shape[-2] % size
    rows = ((0, 0),) * (key.ndim - 2) + ((0, missing), (0, 0))
    return np.pad(key, rows), np.pad(value, rows)


def first_columns(mask: Array, block: slice) -> Array:
    """Take the first columns of the mask for every block."""
    return mask[..., : block.stop - block.start]


def unguarded(logits: Array, peak: Array) -> Array:
    """exp(-inf - -inf), which is NaN, while everything is blocked."""
    with np.errstate(all="ignore"):
        return np.exp(logits - peak)


def unguarded_division(out: Array, total: Array) -> Array:
    """0 / 0 for a row without an allowed key."""
    with np.errstate(all="ignore"):
        return out / total


def all_scores(query: Array, key: Array) -> Array:
    """Compute the whole matrix of scores first."""
    return query @ key.swapaxes(-1, -2)


def several_matrices(query: Array, key: Array) -> Array:
    """Compute scores, exponentials and weights for all keys."""
    scores = all_scores(query, key)
    exponentials = np.exp(scores - scores.max(-1, keepdims=True))
    return scores, exponentials, exponentials / exponentials.sum(-1, keepdims=True)


def for_this_spec(flaws: tuple[Flaw, ...], *ids: str) -> tuple[Flaw, ...]:
    """Choose flaws of the stages; what breaks the definition breaks this spec's core."""
    chosen = [flaw for flaw in flaws if flaw.id in ids]
    assert len(chosen) == len(ids)
    return tuple(
        dataclasses.replace(
            flaw, caught_by=tuple(CORE if id == "definition" else id for id in flaw.caught_by)
        )
        for flaw in chosen
    )


FLAWS = (
    *for_this_spec(
        scaling.FLAWS,
        "keys-reshaped",
        "no-scale",
        "scale-by-d",
        "scaled-twice",
        "multiplied-by-root-d",
        "scale-by-length",
        "scale-on-values",
    ),
    *for_this_spec(softmax.FLAWS, "keys-aggregated"),
    *for_this_spec(
        masking.ATTENTION,
        "mask-after-softmax",
        "mask-ignored",
        "polarity-inverted",
        "fill-zero",
        "fill-tiny",
        "fill-minus-one",
        "fill-minus-twenty",
        "mask-added",
        "mask-of-first-item",
        "mask-not-broadcast",
    ),
    rescaling(
        id="blocks-softmaxed-alone",
        title="each block softmaxed alone, and the blocks averaged",
        parts={"exponentials": alone, "decay_sum": unchanged, "decay_out": unchanged},
    ),
    rescaling(
        id="output-not-rescaled",
        title="an output that is not rescaled when the maximum rises",
        parts={"decay_out": unchanged},
    ),
    rescaling(
        id="sum-not-rescaled",
        title="a sum of exponentials that is not rescaled when the maximum rises",
        parts={"decay_sum": unchanged},
    ),
    rescaling(
        id="nothing-rescaled",
        title="a running maximum, but neither sum rescaled when it rises",
        parts={"decay_out": unchanged, "decay_sum": unchanged},
    ),
    rescaling(
        id="rescaled-upside-down",
        title="sums multiplied by exp(new maximum - old maximum)",
        parts={"decay_out": grown, "decay_sum": grown},
    ),
    rescaling(
        id="sum-of-last-block",
        title="a sum of exponentials that begins anew in each block",
        parts={"decay_sum": lambda before, after: 0.0},
    ),
    rescaling(
        id="sum-left-out",
        title="an output that is never divided by the sum of exponentials",
        parts={"divide": lambda out, total: out},
    ),
    stability(
        id="no-maximum",
        title="a softmax that does not subtract the maximum",
        parts={"peak": lambda before, logits: np.zeros_like(before)},
    ),
    stability(
        id="first-maximum-kept",
        title="the maximum of the first block kept for all blocks",
        parts={"peak": first_peak},
    ),
    stability(
        id="maximum-from-zero",
        title="a running maximum that begins at 0 instead of -inf",
        parts={"peak": from_zero},
        question="Every score of a row is about -3,000, your maximum begins at 0: what is the sum?",
        answer="exp(-3000) underflows: 0/0. Begin with -inf, or with the first block's maximum.",
    ),
    stability(
        id="global-maximum",
        title="a softmax that subtracts one maximum for the whole batch",
        parts={"peak": of_everything},
    ),
    ragged(
        id="last-block-dropped",
        title="keys left out that do not fill a block",
        parts={"blocks": whole_blocks, "divide": unguarded_division},
    ),
    ragged(
        id="blocks-must-divide",
        title="code that needs a block size that divides the keys",
        parts={"blocks": dividing_only},
    ),
    ragged(
        id="last-block-overlaps",
        title="a last block that begins early, so that keys count twice",
        parts={"blocks": overlapping},
    ),
    ragged(
        id="last-block-padded",
        title="a last block padded with zeros, whose scores of 0 count",
        parts={"pad": zeros_behind},
    ),
    masked(
        id="mask-of-first-block",
        title="the mask's first columns used for every block",
        parts={"columns": first_columns},
        caught_by=("mask-before-softmax", "mask-polarity"),
        question="Which part of the mask belongs to keys 3 to 5?",
        answer="Its columns 3 to 5, mask[..., start:stop], with the rows as they are.",
    ),
    masked(
        id="nan-block",
        title="NaN once the first block of a row is blocked: exp(-inf - -inf)",
        parts={"exponentials": unguarded},
        caught_by=("mask-before-softmax", "mask-polarity", "fully-masked-row"),
        question="The running maximum is still -inf after a block. What is exp(score - maximum)?",
        answer="exp(-inf + inf) = NaN, for good; fill finitely, or subtract 0 while it is -inf.",
    ),
    masked(
        id="nan-row",
        title="NaN for a query with no allowed key: 0 / 0 at the end",
        parts={"divide": unguarded_division},
        caught_by=("fully-masked-row",),
        question="A whole row is masked. What are its sums, and what is their quotient?",
        answer="0 and 0: NaN. Guard the division, or fill finitely.",
    ),
    memory(
        id="holds-all-scores",
        hidden=True,
        title="the whole Tq × Tk matrix of scores, computed at once",
        parts={"hold": all_scores},
    ),
    memory(
        id="holds-several-matrices",
        hidden=True,
        title="scores, exponentials and weights of Tq × Tk, all held at once",
        parts={"hold": several_matrices},
    ),
)
