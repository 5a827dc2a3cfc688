"""The reference against PyTorch, and the rounding bound against real rounding."""

import itertools
import statistics

import numpy as np
import pytest

from harness.protocol import Tensor
from harness.spec.comparison import ROUNDOFF, error_ratios
from specs.flaws.training import dropout
from specs.reference import stages

torch = pytest.importorskip("torch")
functional = torch.nn.functional

SHAPES = {
    "one head": ((2,), 5, 7, 6, 9),
    "heads": ((2, 3), 6, 6, 4, 4),
    "one key": ((1,), 3, 1, 4, 2),
    "long": ((1, 2), 40, 50, 16, 8),
}
each_shape = pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)


def drawn(shape, random, dtype=np.float64, size=1.25):
    leading, queries, keys, width, values = shape
    return (
        (size * random.normal(size=(*leading, queries, width))).astype(dtype),
        (size * random.normal(size=(*leading, keys, width))).astype(dtype),
        random.normal(size=(*leading, keys, values)).astype(dtype),
    )


def mask_of(shape, random):
    leading, queries, keys, *_ = shape
    mask = random.random((*leading, queries, keys)) < 0.6
    mask[..., 0] = True
    return mask


@pytest.fixture
def random():
    return np.random.default_rng()


def theirs(arrays, **options):
    tensors = (torch.from_numpy(array) for array in arrays)
    return functional.scaled_dot_product_attention(*tensors, **options).numpy()


def ours(arrays, mask=None):
    return stages.attention(stages.REFERENCE, *arrays, mask)


@each_shape
def test_the_reference_is_pytorch_s_attention(shape, random):
    arrays = drawn(shape, random)
    assert np.allclose(ours(arrays).out, theirs(arrays), rtol=1e-12, atol=1e-13)


@each_shape
def test_the_reference_is_pytorch_s_attention_under_a_mask(shape, random):
    arrays, mask = drawn(shape, random), mask_of(shape, random)
    right = theirs(arrays, attn_mask=torch.from_numpy(mask))
    assert np.allclose(ours(arrays, mask).out, right, rtol=1e-12, atol=1e-13)
    assert np.allclose(ours(arrays, mask.astype(np.int64)).out, right, rtol=1e-12, atol=1e-13)


def test_the_reference_is_pytorch_s_causal_attention(random):
    arrays = drawn(SHAPES["heads"], random)
    right = theirs(arrays, is_causal=True)
    assert np.allclose(ours(arrays, np.tri(6, dtype=bool)).out, right, rtol=1e-12, atol=1e-13)


@each_shape
def test_the_reference_adds_a_floating_mask_like_pytorch(shape, random):
    arrays = drawn(shape, random)
    bias = random.normal(size=(*shape[0], *shape[1:3]))
    right = theirs(arrays, attn_mask=torch.from_numpy(bias))
    assert np.allclose(ours(arrays, bias).out, right, rtol=1e-12, atol=1e-13)


def test_a_row_without_an_allowed_key_is_zero_as_in_pytorch(random):
    arrays, mask = drawn(SHAPES["heads"], random), mask_of(SHAPES["heads"], random)
    mask[0, 1, 2] = False
    out = ours(arrays, mask).out
    assert (out[0, 1, 2] == 0).all()
    assert np.allclose(out, theirs(arrays, attn_mask=torch.from_numpy(mask)), rtol=1e-12)


def test_the_parts_give_the_same_in_numpy_and_in_torch(random):
    arrays, mask = drawn(SHAPES["heads"], random), mask_of(SHAPES["heads"], random)
    trace = stages.attention(
        stages.REFERENCE, *map(torch.from_numpy, arrays), torch.from_numpy(mask)
    )
    right = ours(arrays, mask)
    assert np.allclose(trace.out.numpy(), right.out, rtol=1e-13)
    assert np.allclose(trace.weights.numpy(), right.weights, rtol=1e-13)


@pytest.mark.parametrize("axis", [-1, 0, 1, 2])
def test_the_softmax_is_pytorch_s_on_every_axis(axis, random):
    x = 100 * random.normal(size=(3, 4, 5))
    right = functional.softmax(torch.from_numpy(x), axis).numpy()
    assert np.allclose(stages.softmax(x, axis), right, rtol=1e-12, atol=1e-300)


def test_the_golden_numbers_of_the_first_document_hold():
    random = np.random.default_rng(7)
    query, key, value = (random.normal(size=(1, 4, 8)) for _ in range(3))
    free, causal = ours((query, key, value)), ours((query, key, value), np.tri(4, dtype=bool))
    assert np.round(free.weights[0, 0], 3).tolist() == [0.148, 0.33, 0.372, 0.15]
    assert np.round(causal.weights[0, 0], 3).tolist() == [1, 0, 0, 0]
    assert np.round(causal.weights[0, 1], 3).tolist() == [0.443, 0.557, 0, 0]


@each_shape
@pytest.mark.parametrize("masked", [True, False], ids=["masked", "unmasked"])
def test_the_gradients_are_those_of_autograd(shape, masked, random):
    arrays = drawn(shape, random)
    mask = mask_of(shape, random) if masked else None
    cotangent = random.normal(size=(*shape[0], shape[1], shape[4]))
    tensors = [torch.from_numpy(array).requires_grad_() for array in arrays]
    out = functional.scaled_dot_product_attention(
        *tensors, attn_mask=None if mask is None else torch.from_numpy(mask)
    )
    right = torch.autograd.grad(out, tensors, torch.from_numpy(cotangent))
    for expected, theirs in zip(
        stages.gradients(ours(arrays, mask), cotangent), right, strict=True
    ):
        assert np.allclose(expected.values, theirs.numpy(), rtol=1e-9, atol=1e-12)


def test_gradients_of_an_empty_row_are_zero_and_the_others_right(random):
    shape = SHAPES["heads"]
    arrays, mask = drawn(shape, random), mask_of(shape, random)
    mask[0, 1, 2] = False
    cotangent = random.normal(size=(*shape[0], shape[1], shape[4])) * mask.any(-1, keepdims=True)
    of_query, *_ = stages.gradients(ours(arrays, mask), cotangent)
    assert (of_query.values[0, 1, 2] == 0).all()
    assert all(np.isfinite(g.values).all() for g in stages.gradients(ours(arrays, mask), cotangent))


# Orders of work that a right answer may choose.


def plain(query, key, value, mask):
    return softmax_of(query @ key.swapaxes(-1, -2) / query.dtype.type(query.shape[-1] ** 0.5), mask)


def scaled_first(query, key, value, mask):
    return softmax_of(
        (query / query.dtype.type(query.shape[-1] ** 0.5)) @ key.swapaxes(-1, -2), mask
    )


def quarter_roots(query, key, value, mask):
    root = query.dtype.type(query.shape[-1] ** -0.25)
    return softmax_of((query * root) @ (key * root).swapaxes(-1, -2), mask)


def one_product_at_a_time(query, key, value, mask):
    scores = np.zeros((*query.shape[:-1], key.shape[-2]), query.dtype)
    for feature in range(query.shape[-1]):
        scores += query[..., feature, None] * key[..., None, :, feature]
    return softmax_of(scores * query.dtype.type(query.shape[-1] ** -0.5), mask)


def by_logarithms(query, key, value, mask):
    scores = query @ key.swapaxes(-1, -2) / query.dtype.type(query.shape[-1] ** 0.5)
    if mask is not None:
        scores = np.where(mask, scores, query.dtype.type(-1e9))
    peak = scores.max(-1, keepdims=True)
    return np.exp(scores - peak - np.log(np.exp(scores - peak).sum(-1, keepdims=True)))


def then_renormalised(query, key, value, mask):
    weights = plain(query, key, value, None)
    if mask is not None:
        weights = weights * mask
    return weights / weights.sum(-1, keepdims=True)


def softmax_of(scores, mask):
    if mask is not None:
        scores = np.where(mask, scores, scores.dtype.type(-1e9))
    exponentials = np.exp(scores - scores.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


ORDERS = (
    plain,
    scaled_first,
    quarter_roots,
    one_product_at_a_time,
    by_logarithms,
    then_renormalised,
)


def forwards(weights, value):
    return weights @ value


def backwards(weights, value):
    out = np.zeros((*weights.shape[:-1], value.shape[-1]), weights.dtype)
    for key in reversed(range(value.shape[-2])):
        out += weights[..., key, None] * value[..., None, key, :]
    return out


def summed_apart(weights, value):
    return np.einsum("...ij,...jk->...ik", weights, value)


SUMS = (forwards, backwards, summed_apart)


def ratios(dtype, shape, random, size=1.25):
    """Errors of (out, weights) in rounding bounds, for every order of work, masked and not."""
    arrays = drawn(shape, random, dtype, size)
    code = {np.float32: "f4", np.float64: "f8"}[dtype]
    for mask in (None, mask_of(shape, random)):
        right = stages.expected(stages.REFERENCE, *arrays, mask)
        if dtype is np.float64:
            right = exactly(arrays, mask, right)
        # Masking after the softmax is right while the allowed weights do not underflow.
        orders = ORDERS if size < 4 or mask is None else ORDERS[:-1]
        for order, aggregate in zip(orders, itertools.cycle(SUMS)):
            weights = order(*arrays, mask)
            answers = (aggregate(weights, arrays[2]), weights)
            assert weights.dtype == dtype
            for answer, expected in zip(answers, right, strict=True):
                yield error_ratios(Tensor.of(answer), expected, ROUNDOFF[code])


def exactly(arrays, mask, right):
    """The expected values in extended precision, where float64 answers are judged."""
    extended = [array.astype(np.longdouble) for array in arrays]
    scores = (
        extended[0] @ extended[1].swapaxes(-1, -2) / np.sqrt(np.longdouble(arrays[0].shape[-1]))
    )
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    out = weights @ extended[2]
    return tuple(
        stages.Expected(values.astype(np.float64), expected.roundoffs)
        for values, expected in zip((out, weights), right, strict=True)
    )


@each_shape
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [0.1, 1.25, 4.0, 30.0])
def test_no_order_of_work_exceeds_the_rounding_bound(shape, dtype, size, seeds):
    for seed in seeds:
        random = np.random.default_rng(int(seed, 16))
        worst = max(float(found.max()) for found in ratios(dtype, shape, random, size))
        assert worst <= 1, f"seed {seed}"


@pytest.mark.parametrize("shape", ["one head", "heads", "long"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_rounding_bound_is_at_most_a_hundred_times_the_largest_error(shape, dtype, random):
    worst = [
        max(float(found.max()) for found in ratios(dtype, SHAPES[shape], random)) for _ in range(25)
    ]
    assert statistics.median(worst) >= 0.01


@pytest.mark.parametrize("masked", [True, False], ids=["masked", "unmasked"])
def test_gradients_in_float32_stay_within_their_bound(masked, seeds):
    shape = SHAPES["heads"]
    for seed in seeds:
        random = np.random.default_rng(int(seed, 16))
        arrays = drawn(shape, random, np.float32)
        mask = mask_of(shape, random) if masked else None
        cotangent = random.normal(size=(*shape[0], shape[1], shape[4])).astype(np.float32)
        tensors = [torch.from_numpy(array).requires_grad_() for array in arrays]
        scores = tensors[0] @ tensors[1].mT / shape[3] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~torch.from_numpy(mask), -1e9)
        out = scores.softmax(-1) @ tensors[2]
        found = torch.autograd.grad(out, tensors, torch.from_numpy(cotangent))
        trace = ours([array.astype(np.float64) for array in arrays], mask)
        right = stages.gradients(trace, cotangent.astype(np.float64))
        for gradient, expected in zip(found, right, strict=True):
            answer = Tensor.of(gradient.numpy())
            assert error_ratios(answer, expected, ROUNDOFF["f4"]).max() <= 1, f"seed {seed}"


def test_dropout_of_the_reference_drops_the_share_and_scales_the_rest():
    weights = torch.full((100, 100), 0.5, dtype=torch.float64)
    dropped = dropout(weights, 0.25, True)
    assert {round(kept, 12) for kept in dropped.unique().tolist()} == {0, round(0.5 / 0.75, 12)}
    share = float((dropped == 0).double().mean())
    assert abs(share - 0.25) < 6 * (0.25 * 0.75 / weights.numel()) ** 0.5
    assert torch.equal(dropout(weights, 0.25, False), weights)
    assert torch.equal(dropout(weights, 0.0, True), weights)
