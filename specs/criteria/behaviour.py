"""How attention must behave whatever the numbers: inputs, repetition, extremes, empty rows."""

from __future__ import annotations

import numpy as np

from harness import Expected, Facet, Judge, Stage, Tensor, criterion
from specs.criteria.cases import AttentionCases, Case, Shape, own


@criterion(
    facet=Facet.STABILITY,
    stage=Stage.MASK,
    hint="A query with no allowed key must not give NaN: fill with a finite number, or guard the "
    "division. The value itself is yours to choose.",
    earns_with="definition",
    question="A query has no allowed key. What comes out of your softmax, and where does that "
    "happen in practice?",
    answer="With -inf every exponential is 0, and 0 / 0 is NaN, which spreads through the backward "
    "pass. Padded queries have such rows. A finite fill or a guarded division avoids it.",
)
def fully_masked_row(attention, cases: AttentionCases, judge: Judge):
    """A query with no allowed key gives finite numbers and leaves every other row alone."""
    pairs = [(before, before.replace(mask=before.mask.copy())) for before in cases.ladder_masked]
    for _, case in pairs:
        case.mask[0, ..., 1, :] = False
    answers = attention.each(c.arguments for pair in pairs for c in pair)
    for (before, case), usual, returned in zip(pairs, answers, answers):  # two for each pair
        judge.finite(returned["out"], "out with a query that has no allowed key")
        if "weights" in returned:
            judge.finite(returned["weights"], "weights of a query that has no allowed key")
        others = own(judge, usual, before).where(case.mask.any(-1, keepdims=True))
        judge.close(returned["out"], others, "out of the other queries")


@criterion(
    facet=Facet.STABILITY,
    stage=Stage.NORMALISE,
    hint="Subtract each row's own maximum before exponentiating: exp(x - x.max(axis, keepdims)).",
    earns_with="definition",
    question="What does exp give for a score of 1000, and how does a softmax get around it?",
    answer="It overflows (float32 beyond 88, float64 beyond 709). Subtracting the row's own "
    "maximum changes nothing in exact arithmetic and keeps every exponent at most 0.",
)
def stable_softmax(attention, cases: AttentionCases, judge: Judge):
    """Logits in the thousands stay finite and right, also when rows of one batch lie far apart."""
    judge_large_logits(attention, cases, judge)


def judge_large_logits(attention, cases: AttentionCases, judge: Judge) -> None:
    """Require finite averages of V for logits around ±3,000, which a shift of a row leaves alone.

    Two rows of one batch lie 6,000 apart, so that they may not share a maximum.
    """
    for shape in (cases.different, cases.square):
        case = cases.of(shape)
        large = case.replace(query=case.query * case.query.dtype.type(1500))
        near, far = cases.shifted(case, 0), cases.shifted(case, 3000)
        huge, still, apart = attention.each(c.arguments for c in (large, near, far))
        out = own(judge, huge, large).values
        low, high = (side(case.value, axis=-2, keepdims=True) for side in (np.min, np.max))
        outside = int(((out < low - 0.1) | (out > high + 0.1)).sum())
        judge.require(
            outside == 0, f"{outside} of {out.size} outputs are no average of V for large logits"
        )
        rounding = far.expected()[0].roundoffs
        expected = Expected(own(judge, still, near).values, 2 * rounding)
        judge.close(apart["out"], expected, "out of rows whose logits lie 6,000 apart")


@criterion(
    facet=Facet.BEHAVIOUR,
    hint="Work on new arrays: no `*=` or `[mask] =` on an argument; use reshape, or make a "
    "transposed input contiguous, before viewing it.",
    earns_with="definition",
    question="Your caller uses the same Q after your function returns. What does it hold?",
    answer="What it held before: `*=`, `/=` and `[mask] =` on an argument write into the "
    "caller's array.",
)
def inputs_untouched(attention, cases: AttentionCases, judge: Judge):
    """Arguments are left as they were, and inputs that are not contiguous give the same."""
    for case in (*cases.both, *cases.both_masked):
        returned = attention.echoing(*case.arguments)
        out = own(judge, returned, case)
        for name, before, after in zip("QKVM", case.arguments, returned.arguments_after):
            same = isinstance(after, Tensor) and np.array_equal(after.values, before)
            judge.require(same, f"argument {name} was changed by the call")
        strided = (
            Tensor(array, Tensor.of(array).dtype, transposed=True)
            for array in (case.query, case.key, case.value)
        )
        again = attention(*strided, *case.arguments[3:])
        judge.close(again["out"], out, "out for inputs that are not contiguous")


@criterion(
    facet=Facet.BEHAVIOUR,
    hint="Treat Q, K and V alike whether they are one array or three: no `is`, and nothing written "
    "into any of them.",
    earns_with="definition",
    question="What is self-attention, in terms of the arguments of your function?",
    answer="The same tensor as Q, K and V (or as both sources); the computation is the same.",
)
def self_attention(attention, cases: AttentionCases, judge: Judge):
    """One array as query, key and value gives what three equal ones give."""
    shape = cases.square
    x = cases.of(shape).query
    mask = cases.draw.mask(*shape.leading, shape.queries, shape.keys)
    for masks in ((), (mask,)):
        apart = Case(x, x.copy(), x.copy(), *masks)
        copies, same = attention.each([apart.arguments, (x, x, x, *masks)])
        judge.close(same["out"], own(judge, copies, apart), "out for one array")


@criterion(
    facet=Facet.BEHAVIOUR,
    hint="No state between calls, no randomness outside training, no layers made per call.",
    earns_with="definition",
)
def determinism(attention, cases: AttentionCases, judge: Judge):
    """The same input gives the same output, whatever was computed in between.

    In between are other inputs of the same shape, then inputs of another shape.
    """
    (first, second), (third, fourth) = cases.both, cases.both
    order = (first, third, first, second, fourth, second, first)
    calls = [case.arguments for case in order]
    outs = [judge.shape(returned["out"], (*c[0].shape[:-1], c[2].shape[-1]), "out").values
            for returned, c in zip(attention.each(calls), calls)]  # fmt: skip
    for before, after in ((outs[0], outs[2]), (outs[3], outs[5]), (outs[2], outs[6])):
        moved = int((before != after).sum())
        judge.require(
            moved == 0, f"{moved} of {before.size} outputs differ between two equal calls"
        )


@criterion(
    facet=Facet.BEHAVIOUR,
    hint="Items of a batch do not see each other: keep the batch axis apart in every reshape.",
    earns_with="definition",
)
def batch_independent(attention, cases: AttentionCases, judge: Judge):
    """An item alone gives what it gives in its batch, each item with its own mask."""
    for shape in (cases.different, cases.square):
        case = cases.masked(shape) if cases.draw.masks else cases.of(shape)
        whole, *alone = attention.each(c.arguments for c in (case, *cases.items(case)))
        together = own(judge, whole, case)
        for item, returned in enumerate(alone):
            expected = together.at(slice(item, item + 1))
            judge.close(returned["out"], expected, f"out of item {item} alone")


@criterion(
    facet=Facet.BEHAVIOUR,
    hint="Write it by hand, from matrix products and exponentials: the assignment is the code that "
    "the library call hides.",
    earns_with="definition",
)
def from_scratch(attention, cases: AttentionCases, judge: Judge):
    """No library computes the attention.

    The image lacks other libraries, and the fused calls of torch raise, so that a submission
    which needs one raises here, and its card names the call and the line.
    """
    case = cases.of(Shape((2, *cases.heads), 3, 4, 5, 6))
    judge.require("out" in attention(*case.arguments), "attention returned nothing")
