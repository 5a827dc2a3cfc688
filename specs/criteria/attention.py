"""What attention itself must be, without a mask: shapes, scale, softmax, aggregation."""

from __future__ import annotations

import numpy as np

from harness import Expected, Facet, Judge, Stage, criterion
from specs.criteria.cases import AttentionCases, Case, Shape, judge_case, own


@criterion(
    facet=Facet.SHAPE,
    hint="Return (…, Tq, d_v): as many rows as there are queries, as wide as V. Tq and Tk differ "
    "in cross-attention, d_k and d_v whenever V is projected to another width.",
    earns_with="definition",
)
def output_shape(attention, cases: AttentionCases, judge: Judge):
    """The output is (…, Tq, d_v), with Tq ≠ Tk and d_k ≠ d_v as well."""
    for returned, case in zip(attention.each(c.arguments for c in cases.both), cases.both):
        shape = (*case.query.shape[:-1], case.value.shape[-1])
        judge.shape(returned["out"], shape, "out")


@criterion(
    facet=Facet.SHAPE,
    hint="Return the weights with the shape of the scores, (…, Tq, Tk): one row per query.",
    earns_with="definition",
)
def weights_shape(attention, cases: AttentionCases, judge: Judge):
    """The weights are (…, Tq, Tk), like the scores."""
    for returned, case in zip(attention.each(c.arguments for c in cases.both), cases.both):
        shape = (*case.query.shape[:-1], case.key.shape[-2])
        judge.shape(returned["weights"], shape, "weights")


@criterion(
    facet=Facet.NUMERIC,
    hint="Score every query against every key, divide by √d_k, softmax over the keys, then sum V.",
    question="Take two queries and two keys of width 1 and compute the output by hand. Where does "
    "your code part from it?",
    answer="Scores q·k, divided by √1, a softmax over the two keys, and the weights' mean of V: "
    "each number can be checked on paper.",
)
def definition(attention, cases: AttentionCases, judge: Judge):
    """The output is softmax(QKᵀ/√d_k) V."""
    growing_cases = (*cases.growing_cases, *cases.cubes)
    for returned, case in zip(attention.each(c.arguments for c in growing_cases), growing_cases):
        judge_case(judge, returned, case)


@criterion(
    facet=Facet.NUMERIC,
    stage=Stage.SCALE,
    hint="Divide the scores by √d_k, the square root of the width of one query, once, before the "
    "softmax.",
    earns_with="definition",
    question="By what do you divide the scores, and what would change at d_k = 1024 if you did "
    "not?",
    answer="√d_k: q·k of N(0, 1) vectors has variance d_k, so the softmax would saturate and its "
    "gradient vanish.",
)
def scale(attention, cases: AttentionCases, judge: Judge):
    """Scores are divided by √d_k before the softmax.

    The ratio of two weights of a row is exp(difference of their scores / divisor), so the divisor
    can be read off. At four widths, a wrong power of d shows, and so do √T and a rounded root.
    """
    shapes = [Shape((2, *cases.heads), 5, 3, width, 2) for width in (4, 9, 25, 6)]
    drawn = [cases.of(shape) for shape in shapes]
    for returned, case in zip(attention.each(c.arguments for c in drawn), drawn):
        weights = judge.finite(returned["weights"], "weights").values.astype(np.float64)
        raw = case.query.astype(np.float64) @ case.key.astype(np.float64).swapaxes(-1, -2)
        judge.require(
            weights.shape == raw.shape, f"weights have shape {weights.shape}, expected {raw.shape}"
        )
        judge.require((weights > 0).all(), "weights are zero or negative where nothing is masked")
        logs = np.log(weights)
        spread = raw - raw.mean(-1, keepdims=True)
        logs = logs - logs.mean(-1, keepdims=True)
        slope = (spread * logs).sum() / (spread**2).sum()
        unexplained = np.abs(logs - slope * spread).max() / np.abs(logs).max()
        judge.within(unexplained, 0.01, "weights do not grow with the exponential of QKᵀ")
        width = case.query.shape[-1]
        judge.within(
            abs(slope * width**0.5 - 1),
            1e-4,
            f"scores are multiplied by {slope:.4g} for d_k = {width}, "
            f"expected 1/√{width} = {width**-0.5:.4g}",
        )


@criterion(
    facet=Facet.BEHAVIOUR,
    stage=Stage.SCALE,
    hint="Without ÷ √d_k the variance of a score grows with d_k and the softmax saturates.",
    earns_with="definition",
)
def scale_effect(attention, cases: AttentionCases, judge: Judge):
    """The weights are as soft at d = 256 as at d = 4.

    This is what the scale is for: q·k of N(0,1) vectors has variance d, so that without it the
    largest weight tends to 1 and the gradient to 0. Mean entropies over 500 rows, within 10 %.
    Rows of one item share its keys, so there are many items, and the scores that are drawn get the
    same deviation at every width: right answers differ by 1.8 % at most in 1,500 draws.
    """
    items = 100 // int(np.prod(cases.heads, dtype=int))
    entropies = []
    for width in (4, 64, 256):
        drawn = cases.of(Shape((items, *cases.heads), 5, 4, width, 1))
        raw = drawn.query.astype(np.float64) @ drawn.key.astype(np.float64).swapaxes(-1, -2)
        deviation = raw.std() / width**0.5
        case = drawn.replace(query=(drawn.query * (0.64 / deviation)).astype(drawn.query.dtype))
        returned = attention(*case.arguments)
        judge.shape(returned["weights"], (items, *cases.heads, 5, 4), "weights")
        weights = judge.finite(returned["weights"], "weights").values.astype(np.float64)
        logs = np.log(np.where(weights > 0, weights, 1.0))
        entropies.append(float(-(weights * logs).sum(-1).mean()))
    spread = max(entropies) / max(min(entropies), 1e-9) - 1
    listed = ", ".join(f"{entropy:.3f}" for entropy in entropies)
    judge.require(
        spread <= 0.10, f"mean entropy at d = 4, 64, 256 is {listed}, expected the same within 10 %"
    )


@criterion(
    facet=Facet.WEIGHTS,
    stage=Stage.NORMALISE,
    hint="Normalise over the keys, the last axis of the scores: softmax(scores, axis=-1).",
    earns_with="definition",
    question="Over which axis do your weights sum to 1, and what does one row of them mean?",
    answer="Over the keys, the last axis of the scores: a row says how one query shares its "
    "attention among the keys.",
)
def softmax_axis(attention, cases: AttentionCases, judge: Judge):
    """Each query's weights sum to 1 over the keys."""
    for returned, case in zip(attention.each(c.arguments for c in cases.both), cases.both):
        shape = (*case.query.shape[:-1], case.key.shape[-2])
        weights = judge.shape(returned["weights"], shape, "weights").values.astype(np.float64)
        sums = weights.sum(-1)
        worst = float(sums.flat[np.abs(sums - 1).argmax()]) if np.isfinite(sums).all() else np.nan
        judge.within(
            abs(worst - 1), 1e-3, f"a row of weights sums to {worst:.4g} over the keys, expected 1"
        )


@criterion(
    facet=Facet.WEIGHTS,
    stage=Stage.NORMALISE,
    hint="Softmax the scores first, then multiply by V: the weights choose positions, not features.",
    earns_with="definition",
)
def softmax_before_values(attention, cases: AttentionCases, judge: Judge):
    """The softmax is taken before V is multiplied: the output lies within the values."""
    drawn = [c.replace(value=c.value + c.value.dtype.type(40)) for c in cases.both]
    for returned, case in zip(attention.each(c.arguments for c in drawn), drawn):
        shape = (*case.query.shape[:-1], case.value.shape[-1])
        out = judge.finite(judge.shape(returned["out"], shape, "out"), "out").values
        low, high = case.value.min(-2, keepdims=True), case.value.max(-2, keepdims=True)
        beyond = np.maximum(np.maximum(low - out, out - high), 0)
        judge.within(
            beyond.max(),
            0.1,
            f"{int((beyond > 0.1).sum())} of {out.size} outputs lie outside the values they are an average of",
        )


@criterion(
    facet=Facet.BEHAVIOUR,
    stage=Stage.AGGREGATE,
    hint="Aggregate V: Q and K only decide how much of each value is taken.",
    earns_with="definition",
)
def values_aggregated(attention, cases: AttentionCases, judge: Judge):
    """The sum is over V: linear in V, and a constant V gives that constant."""
    for case in cases.both:
        other = cases.draw.normal(*case.value.shape, dtype=cases.dtype)
        constant = np.full_like(case.value, 3.0)
        values = (case.value, other, case.value - 2 * other, constant)
        first, second, both, flat = attention.each((case.query, case.key, v) for v in values)
        shape = (*case.query.shape[:-1], case.value.shape[-1])
        parts = [judge.shape(r["out"], shape, "out").values for r in (first, second)]
        combined = np.subtract(parts[0], 2 * parts[1].astype(np.float64))
        roundoffs = 8 * case.expected()[0].roundoffs + 64
        judge.close(both["out"], Expected(combined, roundoffs), "out for V - 2·V′")
        judge.close(flat["out"], Expected(np.full(shape, 3.0), roundoffs), "out for V = 3")


@criterion(
    facet=Facet.WEIGHTS,
    hint="Weights are probabilities: softmax, after the mask and over the keys.",
    earns_with="definition",
)
def weights_valid(attention, cases: AttentionCases, judge: Judge):
    """Weights are finite, not negative and sum to 1, also under a mask."""
    drawn = (*cases.both, *cases.both_masked)
    for returned in attention.each(c.arguments for c in drawn):
        weights = judge.finite(returned["weights"], "weights").values.astype(np.float64)
        judge.require((weights >= 0).all(), f"a weight is {weights.min():.4g}, expected at least 0")
        sums = weights.sum(-1)
        worst = float(sums.flat[np.abs(sums - 1).argmax()])
        judge.within(abs(worst - 1), 1e-3, f"a row of weights sums to {worst:.4g}, expected 1")


@criterion(
    facet=Facet.BEHAVIOUR,
    hint="Attention sees contents only: no position, index or order may enter the scores.",
    earns_with="definition",
)
def permutation(attention, cases: AttentionCases, judge: Judge):
    """Permuting keys and values together changes nothing; permuting queries permutes the rows."""
    for case in cases.both:
        keys = cases.draw.permutation(case.key.shape[-2])
        queries = cases.draw.permutation(case.query.shape[-2])
        moved = Case(case.query, case.key[..., keys, :], case.value[..., keys, :])
        turned = case.replace(query=case.query[..., queries, :])
        one, two, three = attention.each(c.arguments for c in (case, moved, turned))
        out = own(judge, one, case)
        judge.close(two["out"], out, "out for permuted keys")
        judge.close(three["out"], out.at((..., queries, slice(None))), "out for permuted queries")


@criterion(
    facet=Facet.NUMERIC,
    hint="Compare with torch.nn.functional.scaled_dot_product_attention on small inputs.",
    earns_with="definition",
)
def sdpa_parity(attention, cases: AttentionCases, judge: Judge):
    """Output and weights equal PyTorch's own attention, masked and not, causal and not.

    The expected values are those of our float64 reference, which a test holds to
    ``scaled_dot_product_attention`` with the same masks and ``is_causal``.
    """
    square = cases.of(cases.square)
    causal = square.replace(mask=cases.causal(cases.square.queries))
    drawn = (*cases.both, *cases.both_masked, *([causal] if cases.draw.masks else []))
    seen = []
    for returned, case in zip(attention.each(c.arguments for c in drawn), drawn):
        judge_case(judge, returned, case)
        judge.close(returned["weights"], case.expected()[1], "weights")
        seen.append((returned["out"], case.expected()[0]))
    judge.note_difference(seen, "F.scaled_dot_product_attention")
