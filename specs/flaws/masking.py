"""Mistakes of the stage mask, and of the functions that make masks."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from harness import Flaw, Stage
from specs.reference.stages import library, swap

Array = Any

mask = partial(Flaw, stage=Stage.MASK)

ASK_FILL = (
    "After the mask a blocked score is your fill value. What is its weight after the softmax?"
)
ANSWER_FILL = (
    "exp(fill - max) / Σ: only -inf or a number like -1e9 makes that zero; 0 leaves exp(0) = 1."
)
ASK_DIAGONAL = "Write the causal mask for T = 4. May position 0 see itself?"
ANSWER_DIAGONAL = "Lower triangle with the diagonal: row i allows 0 … i, so that no row is empty."

ASK_LOW = "All allowed scores of a row are below -2,000. What does your blocked key get?"
ANSWER_LOW = "All of the weight, unless the fill is far below every score: -inf, finfo.min or -1e9."

fill = partial(mask, question=ASK_FILL, answer=ANSWER_FILL)
causal = partial(mask, question=ASK_DIAGONAL, answer=ANSWER_DIAGONAL)


def fill_with(value: float, logits: Array, allowed: Array) -> Array:
    """Set blocked scores to ``value``."""
    return library(logits).where(allowed, logits, value)


def unmasked(logits: Array, allowed: Array) -> Array:
    """The scores as they are."""
    return logits


def first_item(mask: Array, logits: Array) -> Array:
    """Use the first item's mask for every item."""
    return (mask[:1] if mask.ndim == logits.ndim else mask) != 0


def in_full_only(mask: Array, logits: Array) -> Array:
    """Index with the mask, which needs the shape of the scores."""
    if tuple(mask.shape) != tuple(logits.shape):
        raise IndexError(f"mask of shape {tuple(mask.shape)} does not index {tuple(logits.shape)}")
    return mask != 0


def heads_major(mask: Array, logits: Array) -> Array:
    """Repeat the items' masks head by head, though the scores are item by item."""
    if logits.ndim != 4 or mask.ndim != 4 or mask.shape[1] != 1:
        return mask != 0
    return _repeated(mask[:, 0], logits)


def tiled_masks(mask: Array, logits: Array) -> Array:
    """The same for what takes masks without an axis of heads: each head's mask goes by itself."""
    items, heads = logits.shape[:2]
    return _picked(mask, logits, lambda item, head: (item * heads + head) % items)


def items_repeated(mask: Array, logits: Array) -> Array:
    """Repeat each item's mask, though the scores are head by head."""
    items, heads = logits.shape[:2]
    return _picked(mask, logits, lambda item, head: (head * items + item) // heads)


def _picked(mask: Array, logits: Array, item_of: Callable[[int, int], int]) -> Array:
    """Give each head of each item the mask of some item."""
    if logits.ndim != 4 or mask.ndim != 4:
        return mask != 0
    items, heads = logits.shape[:2]
    xp = library(logits)
    whole = xp.broadcast_to(mask, (items, heads, *mask.shape[2:]))
    rows = [
        xp.stack([whole[item_of(item, head), head] for head in range(heads)])
        for item in range(items)
    ]
    return xp.stack(rows) != 0


def _repeated(masks: Array, logits: Array) -> Array:
    """Tile (B, Tq, Tk) over the heads, and read it as (B, H, Tq, Tk)."""
    items, heads = logits.shape[:2]
    tiled = library(logits).tile(masks, (heads, 1, 1))
    return tiled.reshape(items, heads, *masks.shape[1:]) != 0


def diagonal_too(mask: Array, logits: Array) -> Array:
    """Block the diagonal as well."""
    allowed = mask != 0
    if logits.shape[-1] != logits.shape[-2]:
        return allowed
    eye = np.eye(logits.shape[-1], dtype=bool)
    return allowed & ~(eye if library(logits) is np else library(logits).from_numpy(eye))


ATTENTION = (
    mask(
        id="mask-after-softmax",
        title="the mask applied after the softmax, without normalising again",
        parts={"mask": unmasked, "mask_weights": lambda weights, allowed: weights * allowed},
        caught_by=("mask-before-softmax", "weights-valid"),
        question="You zero the blocked weights after the softmax. What does the row sum to now?",
        answer="Less than 1: blocked scores stayed in the denominator. Mask first, or normalise again.",
    ),
    mask(
        id="mask-ignored",
        title="the mask without effect",
        parts={"mask": unmasked},
        caught_by=("mask-before-softmax", "mask-value", "mask-polarity", "padding"),
        question="masked_fill and where return a new array. Where does yours go?",
        answer="The result must be assigned; `scores.masked_fill(…)` alone changes nothing.",
    ),
    mask(
        id="polarity-inverted",
        title="the mask read the other way round: True blocks",
        parts={"read_mask": lambda mask, logits: mask == 0},
        caught_by=("mask-polarity", "mask-before-softmax", "mask-value", "padding"),
        question="PyTorch has both: in which function does True mean keep, and in which block?",
        answer="scaled_dot_product_attention: True keeps; nn.MultiheadAttention: True blocks. Test it.",
    ),
    fill(
        id="fill-zero",
        title="blocked scores set to 0",
        parts={"mask": partial(fill_with, 0.0)},
        caught_by=("mask-value", "mask-before-softmax"),
    ),
    fill(
        id="fill-tiny",
        title="blocked scores set to -1e-9, where -1e9 was meant",
        parts={"mask": partial(fill_with, -1e-9)},
        caught_by=("mask-value", "mask-before-softmax"),
    ),
    fill(
        id="fill-minus-one",
        title="blocked scores set to -1",
        parts={"mask": partial(fill_with, -1.0)},
        caught_by=("mask-value", "mask-before-softmax"),
    ),
    fill(
        id="fill-minus-twenty",
        title="blocked scores set to -20, which a large value outweighs",
        parts={"mask": partial(fill_with, -20.0)},
        caught_by=("mask-value",),
    ),
    fill(
        id="fill-minus-hundred",
        title="blocked scores set to a number like -100, which lies above low scores",
        parts={"mask": partial(fill_with, -100.0)},
        caught_by=("mask-value",),
        question=ASK_LOW,
        answer=ANSWER_LOW,
    ),
    fill(
        id="fill-minus-999",
        title="blocked scores set to a number like -999, which lies above low scores",
        parts={"mask": partial(fill_with, -999.0)},
        caught_by=("mask-value",),
        question=ASK_LOW,
        answer=ANSWER_LOW,
    ),
    fill(
        id="mask-added",
        title="the 0/1 mask added to the scores",
        parts={"mask": lambda logits, allowed: logits + allowed},
        caught_by=("mask-value", "mask-before-softmax"),
    ),
    mask(
        id="mask-on-queries",
        title="the mask applied along the queries instead of the keys",
        parts={"read_mask": lambda mask, logits: swap(mask) != 0},
        caught_by=("padding", "mask-value"),
        question="Item b has 3 real tokens of 5. Which columns or rows of its scores are blocked?",
        answer="Columns 3 and 4, in every row: nobody may read a padding key.",
    ),
    mask(
        id="mask-of-first-item",
        title="the first item's mask used for the whole batch",
        parts={"read_mask": first_item},
        also=({"read_mask": lambda mask, logits: mask[:1] != 0},),
        caught_by=("mask-broadcast", "mask-before-softmax"),
        question="How do you make sure that each sentence of a batch gets its own padding mask?",
        answer="Keep the batch axis in the mask, (B, 1, Tk), and test with masks that differ.",
    ),
    mask(
        id="mask-not-broadcast",
        title="a mask that must have the full shape of the scores",
        parts={"read_mask": in_full_only},
        caught_by=("mask-broadcast",),
        question="Which mask shapes broadcast to (B, H, Tq, Tk)?",
        answer="(Tq, Tk) for causal, (B, 1, 1, Tk) for padding; align from the right, 1 stretches.",
    ),
    mask(
        id="diagonal-blocked",
        title="the diagonal blocked too: no position sees itself",
        parts={"read_mask": diagonal_too},
        caught_by=("causal-perturbation",),
        question=ASK_DIAGONAL,
        answer=ANSWER_DIAGONAL,
    ),
)

POLARITY = next(flaw for flaw in ATTENTION if flaw.id == "polarity-inverted")
#: The same where a mask of floats would be added: compared with 0 or with 1 it is a mask, too.
POLARITY_OF_FLOATS = dataclasses.replace(
    POLARITY,
    also=(
        {**POLARITY.parts, "add_mask": lambda logits, mask: fill_with(-1e9, logits, mask == 0)},
        {**POLARITY.parts, "add_mask": unmasked},
    ),
)

HEADS_MAJOR = mask(
    id="mask-heads-major",
    title="masks repeated in another order than that of the scores' items and heads",
    parts={"read_mask": heads_major},
    also=({"read_mask": tiled_masks}, {"read_mask": items_repeated}),
    caught_by=("mask-broadcast",),
    question="repeat or repeat_interleave: which one matches scores folded to (B·H, Tq, Tk)?",
    answer="repeat_interleave(H) along the batch; repeat puts item 1's mask on item 0's second head.",
)


def earlier_only(logits: Array) -> Array:
    """Block the future, though nobody asked for it."""
    past = np.tri(*logits.shape[-2:], dtype=bool)
    xp = library(logits)
    return xp.where(past if xp is np else xp.from_numpy(past), logits, -float("inf"))


def square_causal(logits: Array) -> Array:
    """The same where there are as many queries as keys."""
    return earlier_only(logits) if logits.shape[-1] == logits.shape[-2] else logits


#: Where nothing is causal but by the mask that is given.
ALWAYS_CAUSAL = mask(
    id="always-causal",
    title="causal whatever the mask says",
    parts={"scale": lambda logits, width: earlier_only(logits / width**0.5)},
    also=(
        {"scale": lambda logits, width: square_causal(logits / width**0.5)},
        {"without_mask": earlier_only},
        {"without_mask": square_causal},
    ),
    caught_by=("definition",),
    question="Who decides whether position 0 may see position 1?",
    answer="The mask that is passed. Without one every query sees every key, as an encoder needs.",
)


def _causal(offset: int) -> dict[str, Any]:
    return {"causal_mask": lambda length: np.tri(length, k=offset, dtype=bool)}


def _padding(allow: Any) -> dict[str, Any]:
    def padding_mask(lengths: Array, longest: int) -> Array:
        lengths = np.asarray(lengths)
        return allow(np.arange(longest), lengths[:, None, None])

    return {"padding_mask": padding_mask}


FUNCTIONS = (
    causal(
        id="causal-triu",
        title="the causal mask upside down: it allows the future",
        parts={"causal_mask": lambda length: np.tri(length, dtype=bool).T},
        caught_by=("causal-mask", "mask-combination"),
    ),
    causal(
        id="causal-no-diagonal",
        title="a causal mask without its diagonal",
        parts=_causal(-1),
        caught_by=("causal-mask", "mask-combination"),
    ),
    causal(
        id="causal-one-ahead",
        title="a causal mask that lets each position see one ahead",
        parts=_causal(1),
        caught_by=("causal-mask", "mask-combination"),
    ),
    causal(
        id="causal-swapped",
        title="a causal mask in which True marks the blocked future",
        parts={"causal_mask": lambda length: ~np.tri(length, dtype=bool)},
        caught_by=("causal-mask", "mask-combination"),
    ),
    mask(
        id="padding-of-two-axes",
        title="a padding mask of shape (B, max_len), without an axis for the queries",
        parts=_padding(lambda keys, lengths: (keys < lengths)[:, 0]),
        caught_by=("padding-mask",),
        question="Your padding mask is (B, T), the scores (B, Tq, T). Which axes meet?",
        answer="Those at the right: B meets Tq. [:, None, :] makes it (B, 1, T).",
    ),
    mask(
        id="padding-off-by-one",
        title="a padding mask that allows one key too many",
        parts=_padding(lambda keys, lengths: keys <= lengths),
        caught_by=("padding-mask", "mask-combination"),
        question="An item of length 3 in a batch padded to 5: which key positions are real?",
        answer="0, 1 and 2: j < length.",
    ),
    mask(
        id="padding-swapped",
        title="a padding mask in which True marks the padding",
        parts=_padding(lambda keys, lengths: keys >= lengths),
        caught_by=("padding-mask", "mask-combination"),
        question="In your mask, what does True mean, and who has to know?",
        answer="May attend, says the brief; every mask that is combined with it must mean the same.",
    ),
    mask(
        id="padding-on-queries",
        title="a padding mask along the queries, (B, max_len, 1)",
        parts=_padding(lambda keys, lengths: (keys < lengths).swapaxes(-1, -2)),
        caught_by=("padding-mask", "mask-combination"),
        question="Does padding have to be blocked as a key, as a query, or both?",
        answer="As a key; what a padded query computes is thrown away.",
    ),
    mask(
        id="padding-of-first-item",
        title="one length used for the whole batch",
        parts=_padding(lambda keys, lengths: (keys < lengths[:1]) & (lengths > 0)),
        caught_by=("padding-mask", "mask-combination"),
        question="How do you make sure that each sentence of a batch gets its own padding mask?",
        answer="Compare positions with each item's own length, keeping the batch axis.",
    ),
)
