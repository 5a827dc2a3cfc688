"""What only a framework has: dtypes, dropout, gradients, additive masks."""

from __future__ import annotations

import numpy as np

from harness import Expected, Facet, Judge, Stage, Tensor, criterion
from specs.criteria.cases import AttentionCases, Shape, own
from specs.reference import stages

#: p of the dropout criteria, and their least number of weights.
PROBABILITY, ENTRIES = 0.25, 4096
NAMES = {"f2": "float16", "bf2": "bfloat16", "f4": "float32", "f8": "float64"}


@criterion(
    of_torch=True,
    facet=Facet.NUMERIC,
    hint="Return the dtype of the inputs: no .float(), no float32 constants or buffers.",
    earns_with="definition",
)
def dtype_preserved(attention, cases: AttentionCases, judge: Judge):
    """float64 in, float64 out; float32 in, float32 out."""
    for dtype in ("f8", "f4"):
        case = cases.of(cases.different)
        given = tuple(Tensor.rounded(array, dtype) for array in case.arguments)
        returned = attention(*given)
        out = judge.shape(returned["out"], (*case.query.shape[:-1], case.value.shape[-1]), "out")
        judge.require(
            out.dtype == dtype,
            f"out is {NAMES.get(out.dtype, out.dtype)} for {NAMES[dtype]} inputs",
        )


@criterion(
    of_torch=True,
    facet=Facet.STABILITY,
    hint="-1e9 does not fit float16: use torch.finfo(scores.dtype).min or -inf, and keep one dtype.",
    earns_with="definition",
)
def half_precision(attention, cases: AttentionCases, judge: Judge):
    """float16 and bfloat16 inputs give finite outputs of their dtype, within its precision."""
    for dtype in ("f2", "bf2"):
        calls = []
        for case in (*cases.both, *cases.both_masked):
            given = [Tensor.rounded(a, dtype) for a in (case.query, case.key, case.value)]
            calls.append((given, [] if case.mask is None else [case.mask]))
        answers = attention.each((*given, *masks) for given, masks in calls)
        for (given, masks), returned in zip(calls, answers):
            out = returned["out"]
            rounded = (tensor.values.astype(np.float64) for tensor in given)
            expected, _ = stages.expected(stages.REFERENCE, *rounded, *masks)
            judge.close(out, expected, f"out in {NAMES[dtype]}", precision=dtype)
            judge.require(
                isinstance(out, Tensor) and out.dtype == dtype,
                f"out is not {NAMES[dtype]} for {NAMES[dtype]} inputs",
            )


@criterion(
    of_torch=True,
    facet=Facet.NUMERIC,
    hint="Keep the graph whole: no .detach(), .data, .item() or numpy between Q, K, V and the "
    "output. (A detached maximum is right: it cancels.)",
    earns_with="definition",
)
def gradients(attention, cases: AttentionCases, judge: Judge):
    """The gradients of Q, K and V are those of softmax(QKᵀ/√d_k) V."""
    for case in (*cases.both, *cases.both_masked):
        _judge_gradients(attention, case, cases, judge)


@criterion(
    of_torch=True,
    facet=Facet.STABILITY,
    stage=Stage.MASK,
    hint="NaN that nan_to_num hides is still NaN in the backward pass: give an empty row a finite "
    "fill, or zero its weights with where after a safe softmax.",
    earns_with="definition",
)
def masked_gradients(attention, cases: AttentionCases, judge: Judge):
    """With a query that has no allowed key, all gradients are finite and the others' right."""
    for shape in (cases.different, cases.square):
        case = cases.masked(shape)
        mask = case.mask.copy()
        mask[0, ..., 1, :] = False
        _judge_gradients(attention, case.replace(mask=mask), cases, judge)


def _judge_gradients(attention, case, cases: AttentionCases, judge: Judge) -> None:
    cotangent = cases.draw.normal(*case.query.shape[:-1], case.value.shape[-1], dtype=cases.dtype)
    if case.mask is not None:
        # What an empty row gives is the candidate's choice, so nothing flows back through it.
        cotangent = cotangent * case.mask.any(-1, keepdims=True)
    found = attention.gradients(case.arguments, (cotangent, None))
    exact = (np.asarray(a, np.float64) for a in (case.query, case.key, case.value))
    trace = stages.attention(stages.REFERENCE, *exact, case.mask)
    expected = stages.gradients(trace, cotangent.astype(np.float64))
    missing = [name for name, gradient in zip("QKV", found) if gradient is None]
    judge.require(not missing, f"no gradient reaches {', '.join(missing)}")
    for name, gradient, right in zip("QKV", found, expected):
        judge.close(gradient, right, f"gradient of {name}")


@criterion(
    facet=Facet.NUMERIC,
    stage=Stage.MASK,
    hint="A floating mask is added to the scaled scores; compare with 0 only bool and integer masks.",
    earns_with="definition",
)
def additive_mask(attention, cases: AttentionCases, judge: Judge):
    """A floating-point mask is added to the scores."""
    for shape in (cases.different, cases.square):
        case = cases.masked(shape)
        bias = cases.draw.normal(*case.mask.shape, dtype=cases.dtype)
        blocked = np.where(case.mask, bias, -np.inf).astype(cases.dtype)
        for mask in (bias, blocked):
            one = case.replace(mask=mask)
            judge.close(attention(*one.arguments)["out"], one.expected()[0], "out")


def _dropped(attention, cases: AttentionCases, judge: Judge, probability: float, *training: bool):
    """Return both halves of out for V = [I | I], and the weights without dropout.

    Without ``training`` the submission's own default holds.
    """
    length = 28
    shape = Shape((2, *cases.heads), length, length, 6, 2 * length)
    drawn = cases.of(shape)
    twice = np.concatenate([np.eye(length)] * 2, axis=-1).astype(cases.dtype)
    case = drawn.replace(value=np.broadcast_to(twice, drawn.value.shape).copy())
    returned = attention(*case.arguments, None, probability, *training)
    out = judge.finite(returned["out"], "out")
    judge.shape(out, (*shape.leading, length, 2 * length), "out")
    weights = own(judge, attention(*case.arguments, None, 0.0, False), case)
    left, right = np.split(out.values.astype(np.float64), 2, axis=-1)
    return left, right, weights.at((..., slice(0, length)))


@criterion(
    facet=Facet.BEHAVIOUR,
    hint="Drop attention weights: after the softmax, before V is multiplied.",
    earns_with="definition",
)
def dropout_place(attention, cases: AttentionCases, judge: Judge):
    """Dropout removes weights, each by itself, in training and by default.

    With V = [I | I] both halves of the output lose the same weights. That two rows of 28 weights,
    two heads or two items lose the same ones has a chance of (p² + q²)^28 < 1e-5 for one pair of
    rows, hence whole matrices are compared: (p² + q²)^784.
    """
    for training in ((True,), ()):
        left, right, weights = _dropped(attention, cases, judge, PROBABILITY, *training)
        when = "in training" if training else "by default, which is training"
        judge.require(np.array_equal(left, right), "dropout falls on the output, not the weights")
        judge.require(np.abs(left - weights.values).max() > 1e-6, f"nothing is dropped {when}")
        dropped = left == 0
        rate = float(dropped.mean())
        spread = 6 * (PROBABILITY * (1 - PROBABILITY) / left.size) ** 0.5
        judge.require(
            abs(rate - (1 - PROBABILITY)) > spread,
            f"{rate:.1%} of the weights are dropped {when}, which is 1 - p",
        )
        judge.require(
            abs(rate - PROBABILITY) <= spread,
            f"{rate:.1%} of the weights are dropped {when}, "
            f"expected {PROBABILITY:.0%} ± {spread:.1%}",
        )
        _judge_independence(judge, dropped)


def _judge_independence(judge: Judge, dropped) -> None:
    """Require a pattern of dropped weights of its own for every item, head, query and key."""
    for axis, what in enumerate(("items", "heads", "queries", "keys")):
        first, second = (np.take(dropped, index, axis) for index in (0, 1))
        shared = (dropped == np.expand_dims(first, axis)).all()
        judge.require(
            not (shared and np.array_equal(first, second)),
            f"all {what} lose the same weights, expected each weight to be dropped by itself",
        )


@criterion(
    facet=Facet.NUMERIC,
    hint="Divide the weights that stay by 1 - p, as F.dropout does, so that the mean is kept.",
    earns_with="definition",
)
def dropout_scale(attention, cases: AttentionCases, judge: Judge):
    """A weight that stays is divided by 1 - p."""
    left, _, weights = _dropped(attention, cases, judge, PROBABILITY, True)
    judge.require((left == 0).any(), "no weight is dropped in training")
    sums = left[(left != 0).any(-1)].sum(-1)
    judge.require(
        np.abs(sums - 1).max() > 1e-3, "rows of weights sum to 1 after dropout, expected on average"
    )
    kept = Expected(weights.values / (1 - PROBABILITY), 2 * weights.roundoffs + 4, left != 0)
    judge.close(Tensor(left.astype(np.float32), "f4"), kept, "a weight that stays")


@criterion(
    facet=Facet.BEHAVIOUR,
    hint="Pass training on to F.dropout: nothing is dropped in evaluation, nor for p = 0.",
    earns_with="definition",
)
def dropout_off(attention, cases: AttentionCases, judge: Judge):
    """Nothing is dropped when training is False, or p = 0."""
    for probability, training in ((PROBABILITY, False), (0.0, True)):
        left, right, weights = _dropped(attention, cases, judge, probability, training)
        for half in (left, right):
            judge.close(Tensor(half.astype(np.float32), "f4"), weights, "out without dropout")
