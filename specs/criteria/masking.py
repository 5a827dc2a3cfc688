"""What a mask must do: before the softmax, without a trace of the blocked, the right way round."""

from __future__ import annotations

import itertools

import numpy as np

from harness import Expected, Facet, Judge, Stage, Tensor, criterion
from specs.criteria.cases import AttentionCases, Case, own

#: Allowed logits reach as far, up and down.
LARGEST_LOGIT = 3990.0
#: Wire dtypes as people call them.
DTYPE_NAMES = {"f8": "float64", "f4": "float32", "i8": "int64", "i4": "int32", "u1": "uint8"}


@criterion(
    facet=Facet.WEIGHTS,
    stage=Stage.MASK,
    hint="Set the blocked scores to a large negative number before the softmax, so that the "
    "weights that remain sum to 1.",
    earns_with="definition",
    question="A key is blocked. What is its weight, and who gets what it would have had?",
    answer="Exactly 0, and the allowed keys share the whole: their weights still sum to 1.",
)
def mask_before_softmax(attention, cases: AttentionCases, judge: Judge):
    """A blocked key gets weight 0, and the others share the whole.

    That is what a softmax over the allowed scores gives: the unmasked weights, blocked ones set
    to 0, divided by their sum. Masking after the softmax and normalising again is right, too.
    """
    drawn = list(cases.ladder_masked)
    pairs = [(case.replace(mask=None), case) for case in drawn]
    returned = attention.each(c.arguments for pair in pairs for c in pair)
    for (bare, case), unmasked, masked in zip(pairs, returned, returned):  # two for each pair
        weights = own(judge, unmasked, bare, "weights").values * case.mask
        total = weights.sum(-1, keepdims=True)
        judge.require((total > 0).all(), "the allowed keys have no weight without the mask")
        roundoffs = 4 * case.expected()[1].roundoffs
        judge.close(masked["weights"], Expected(weights / total, roundoffs), "weights")
        out, bound = weights / total @ case.value, case.expected()[0].roundoffs
        judge.close(masked["out"], Expected(out, 4 * bound), "out")


@criterion(
    facet=Facet.BEHAVIOUR,
    stage=Stage.MASK,
    hint="Fill with -inf or a number like -1e9: exp(0), exp(-1) and even exp(-20) leave an "
    "influence.",
    earns_with="definition",
)
def mask_value(attention, cases: AttentionCases, judge: Judge):
    """What a blocked key holds has no influence, however large it is, and however low the scores.

    Blocked values are 1e12 (1e6 in float32): finite, since inf · 0 is NaN in right code too. A
    fill f leaves a blocked key the weight exp(f - s) beside an allowed score s, which is no
    number of float32 once s - f > 104 (of float64: 746). Allowed scores are drawn between -4,000
    and 4,000, so that -999 leaks and -1e4 does not.
    """
    huge = {"f8": 1e12, "f4": 1e6}[cases.dtype]
    for shape, by in itertools.product((cases.different, cases.square), (0, LARGEST_LOGIT)):
        _, mask = cases.ragged(shape)
        case = cases.of(shape).replace(mask=mask)
        if by:
            case = cases.shifted(case, by)
        blocked = ~mask[..., :1, :].swapaxes(-1, -2)
        clean, loaded = (
            case.replace(value=np.where(blocked, value, case.value).astype(cases.dtype))
            for value in (0, huge)
        )
        without, with_huge = attention.each(c.arguments for c in (clean, loaded))
        if by and not np.isfinite(_values(without["out"])).all():
            continue  # a softmax that overflows is what stable-softmax looks at
        judge.close(with_huge["out"], own(judge, without, clean), "out")


@criterion(
    facet=Facet.BEHAVIOUR,
    stage=Stage.MASK,
    hint="Read the brief's mask: here True means that the query may attend to the key.",
    earns_with="definition",
)
def mask_polarity(attention, cases: AttentionCases, judge: Judge):
    """True means "may attend": a query that may see one key receives that key's value."""
    for shape in (cases.different, cases.square):
        case = cases.of(shape)
        mask = cases.draw.mask(*shape.leading, shape.queries, shape.keys, keep=0)
        chosen = mask.argmax(-1)[..., None]
        returned = attention(case.query, case.key, case.value, mask)
        values = np.take_along_axis(case.value.astype(np.float64), chosen, axis=-2)
        judge.close(returned["out"], Expected(values, np.abs(values) * 16 + 1), "out")


@criterion(
    facet=Facet.BEHAVIOUR,
    stage=Stage.MASK,
    hint="Row i allows 0 … i, the diagonal included: np.tril(np.ones((T, T), bool)).",
)
def causal_mask(causal_mask, judge: Judge):
    """Row i of the causal mask allows 0 … i: the diagonal, and not the future. It is boolean."""
    lengths = (1, 2, 5, 8)
    for returned, length in zip(causal_mask.each((n,) for n in lengths), lengths):
        judge.exactly(returned["mask"], np.tri(length), "mask")
        _judge_boolean(judge, returned["mask"])


def _values(output: object) -> np.ndarray:
    """Return the numbers of an output; what is no array has none."""
    return output.values if isinstance(output, Tensor) else np.zeros(0)


def _judge_boolean(judge: Judge, mask: object) -> None:
    """Require a boolean mask: & takes no floats, and ~ of an integer is no negation."""
    dtype = mask.dtype if isinstance(mask, Tensor) else ""
    judge.require(dtype == "b1", f"the mask is of {DTYPE_NAMES.get(dtype, dtype)}, expected bool")


@criterion(
    facet=Facet.BEHAVIOUR,
    stage=Stage.MASK,
    hint="The mask concerns keys: item b allows key j when j < lengths[b]; shape (B, 1, max_len).",
)
def padding_mask(padding_mask, draw, judge: Judge):
    """The padding mask allows exactly the first lengths[b] keys of item b, and is boolean.

    An item may be empty: all its keys are padding.
    """
    short = np.array([3, 1, 4])
    drawn = draw.permutation(7)[:4] + 1
    cases = [(short, 4), (drawn, 7), (drawn, 9), (np.array([2, 0, 5]), 5)]
    for returned, (lengths, longest) in zip(padding_mask.each(cases), cases):
        keys = np.arange(longest) < lengths[:, None, None]
        judge.exactly(returned["mask"], keys, "mask")
        _judge_boolean(judge, returned["mask"])


@criterion(
    facet=Facet.BEHAVIOUR,
    stage=Stage.MASK,
    hint="Block the future with the mask, and nothing else: row i attends to 0 … i.",
    earns_with="definition",
    question="You change the last token. Which rows of the output may move, and how would you test "
    "it?",
    answer="The last row only: change K and V at one position and compare all rows before it, "
    "which must stay as they are.",
)
def causal_perturbation(attention, cases: AttentionCases, judge: Judge):
    """With a causal mask, changing position j moves rows ≥ j and no row before it.

    V[j] by 100, K[j] by O(1). Rows before j may move within the rounding bound: mask-then-
    renormalise is right and moves last bits.
    """
    length = cases.square.queries
    case = cases.of(cases.square).replace(mask=cases.causal(length))
    calls, places = [case.arguments], range(1, length)
    for place in places:
        value, key = case.value.copy(), case.key.copy()
        value[..., place, :] += 100
        key[..., place, :] += cases.draw.normal(case.key.shape[-1], dtype=cases.dtype)
        calls.append(case.replace(key=key, value=value).arguments)
    shape = (*case.query.shape[:-1], case.value.shape[-1])
    outs = [
        judge.finite(judge.shape(returned["out"], shape, "out"), "out").values
        for returned in attention.each(calls)
    ]
    before = case.expected()[0].roundoffs
    for place, moved in zip(places, outs[1:]):
        past = Expected(outs[0][..., :place, :], 2 * before[..., :place, :])
        judge.close(Tensor.of(moved[..., :place, :]), past, f"out before position {place}")
        still = np.abs(moved - outs[0])[..., place:, :].max(-1) < 1e-6
        judge.require(
            not still.any(),
            f"{int(still.sum())} rows from position {place} on do not see position {place}",
        )


@criterion(
    facet=Facet.BEHAVIOUR,
    stage=Stage.MASK,
    hint="Mask the keys that are padding, for every query; rows of padded queries do not matter.",
    earns_with="definition",
)
def padding(attention, cases: AttentionCases, judge: Judge):
    """Masking a key gives the same as leaving it out."""
    for shape in (cases.different, cases.square):
        case = cases.of(shape)
        lengths, mask = cases.ragged(shape)
        shorter = [
            Case(one.query, one.key[..., :length, :], one.value[..., :length, :])
            for one, length in zip(cases.items(case), lengths)
        ]
        whole, *cut = attention.each([(*case.arguments, mask), *(c.arguments for c in shorter)])
        out = judge.shape(whole["out"], (*shape.leading, shape.queries, shape.values), "out")
        for item, (returned, one) in enumerate(zip(cut, shorter)):
            part = Tensor(out.values[item : item + 1], out.dtype)
            judge.close(part, own(judge, returned, one), f"out of item {item}")


@criterion(
    facet=Facet.BEHAVIOUR,
    stage=Stage.MASK,
    hint="A key is visible when the causal mask and the padding mask both allow it: combine with &.",
    earns_with="definition",
)
def mask_combination(attention, causal_mask, padding_mask, cases: AttentionCases, judge: Judge):
    """The causal and the padding mask hold together, element by element.

    Built from the submission's own two masks.
    """
    shape = cases.square
    case = cases.of(shape)
    lengths, keys = cases.ragged(shape)
    causal = judge.finite(causal_mask(shape.queries)["mask"], "causal mask").values != 0
    pads = judge.finite(padding_mask(lengths, shape.keys)["mask"], "padding mask").values != 0
    try:
        both = np.broadcast_to(causal & pads, keys.shape)
    except ValueError:
        judge.require(
            False, f"masks of shape {causal.shape} and {pads.shape} do not broadcast together"
        )
    right = case.replace(mask=keys & cases.causal(shape.queries))
    combined = case.replace(mask=np.ascontiguousarray(both))
    expected, returned = attention.each(c.arguments for c in (right, combined))
    judge.close(returned["out"], own(judge, expected, right), "out")


@criterion(
    facet=Facet.SHAPE,
    stage=Stage.MASK,
    hint="Broadcast the mask to the scores; each item keeps its own mask.",
    earns_with="definition",
    question="Your scores are (B, H, Tq, Tk) and the mask is (B, 1, 1, Tk). Which entry meets "
    "which?",
    answer="Axes are matched from the right and those of length 1 are repeated, so item b's mask "
    "serves all its heads and queries.",
)
def mask_broadcast(attention, cases: AttentionCases, judge: Judge):
    """Every mask shape of the brief broadcasts over batch, heads and queries."""
    shapes = (cases.different, cases.square)
    drawn = [(s, cases.of(s).replace(mask=mask)) for s in shapes for mask in cases.masks(s)]
    calls = [(case, *cases.items(case)) for _, case in drawn]
    answers = attention.each(c.arguments for call in calls for c in call)
    for (shape, _), (_, *alone) in zip(drawn, calls):
        whole, *parts = itertools.islice(answers, 1 + len(alone))
        out = judge.shape(whole["out"], (*shape.leading, shape.queries, shape.values), "out")
        for item, (returned, one) in enumerate(zip(parts, alone)):
            part = Tensor(out.values[item : item + 1], out.dtype)
            judge.close(part, own(judge, returned, one), f"out of item {item}")
