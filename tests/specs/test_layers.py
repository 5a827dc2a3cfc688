"""The references of the class assignments are PyTorch's layers; trivial classes earn nothing."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

import specs
from harness.candidate.checks import run_checks, verdict
from harness.candidate.session import DirectSession
from harness.candidate.weights.learned import State, draw_weights
from harness.results import Verdict
from harness.spec.draw import Draw
from specs import kv_cache, torch_multi_head, torch_single_head
from specs import transformer_block as block_spec
from specs.reference import blocks, caching, layers, rounding

CLASSES = ("torch_single_head", "torch_multi_head", "kv_cache", "transformer_block")
D, H = 12, 3


@pytest.fixture
def draw(seeds):
    return Draw(seeds[0], "layers")


def state(learned, draw, *made_of):
    return State(made_of, draw_weights(learned, draw))


def tensor(array):
    return torch.from_numpy(np.array(array))


def pytorch_attention(weights):
    """nn.MultiheadAttention with these weights."""
    layer = nn.MultiheadAttention(D, H, batch_first=True).double()
    with torch.no_grad():
        layer.in_proj_weight.copy_(torch.cat([tensor(weights[f"W_{n}"]).T for n in "QKV"]))
        layer.in_proj_bias.copy_(torch.cat([tensor(weights[f"b_{n}"]) for n in "QKV"]))
        layer.out_proj.weight.copy_(tensor(weights["W_O"]).T)
        layer.out_proj.bias.copy_(tensor(weights["b_O"]))
    return layer


@pytest.mark.parametrize("masked", [False, True])
def test_the_multi_head_reference_is_pytorch_s_with_the_same_weights(masked, draw):
    known = state(torch_multi_head.learned(D, H), draw, D, H)
    given = [draw.normal(2, length, D) for length in (5, 7, 7)]
    mask = draw.mask(2, H, 5, 7) if masked else None
    blocked = None if mask is None else tensor(~mask).flatten(0, 1)
    right, _ = pytorch_attention(known.weights)(*map(tensor, given), attn_mask=blocked)
    (ours,) = layers.expected_multi_head(layers.MULTI_HEAD, known, *given, mask)
    assert np.allclose(ours.values, right.detach().numpy(), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("masked", [False, True])
def test_the_single_head_reference_is_pytorch_s_attention_between_linears(masked, draw):
    known = state(torch_single_head.learned(7, 4, 5), draw, 7, 4, 5)
    x_q, x_kv = draw.normal(2, 3, 7), draw.normal(2, 6, 7)
    mask = ~draw.mask(2, 3, 6) if masked else None
    query, key, value = (
        F.linear(tensor(x), tensor(known.weights[f"W_{n}"]).T, tensor(known.weights[f"b_{n}"]))
        for x, n in ((x_q, "Q"), (x_kv, "K"), (x_kv, "V"))
    )
    allowed = None if mask is None else tensor(~mask)
    right = F.scaled_dot_product_attention(query, key, value, attn_mask=allowed)
    (ours,) = layers.expected_one_head(layers.ONE_HEAD, known, x_q, x_kv, mask)
    assert np.allclose(ours.values, right.numpy(), rtol=1e-12, atol=1e-12)


def test_the_cached_reference_gives_the_causal_pass_whatever_came_before(draw):
    known = state(kv_cache.learned(D, H), draw, D, H)
    x = draw.normal(2, 7, D)
    layer = pytorch_attention(known.weights)
    future = torch.ones(7, 7, dtype=torch.bool).triu(1)
    right, _ = layer(tensor(x), tensor(x), tensor(x), attn_mask=future)
    other = draw.normal(2, 3, D)
    fed = State((D, H), known.weights, ((other,), (x[:, :2], x[:, 2:3])))
    (last,) = caching.expected_step(caching.REFERENCE, fed, x[:, 3:])
    assert np.allclose(last.values, right.detach().numpy()[:, 3:], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("form", "approximate"), [(0, "none"), (1, "tanh")])
@pytest.mark.parametrize("causal", [True, False])
def test_the_block_reference_is_made_of_pytorch_s_layers(causal, form, approximate, draw):
    known = state(block_spec.learned(D, H, 20), draw, D, H, 20, causal)
    w = {name: tensor(value) for name, value in known.weights.items()}
    x = draw.normal(2, 6, D)
    real = np.array([[1, 1, 1, 1, 0, 0], [1, 1, 0, 1, 1, 1]], bool)
    future = torch.ones(6, 6, dtype=torch.bool).triu(1) & causal
    blocked = (future | ~tensor(real)[:, None]).repeat_interleave(H, 0)
    first = F.layer_norm(tensor(x), (D,), w["gain_1"], w["shift_1"])
    attended, _ = pytorch_attention(known.weights)(first, first, first, attn_mask=blocked)
    middle = tensor(x) + attended
    second = F.layer_norm(middle, (D,), w["gain_2"], w["shift_2"])
    hidden = F.gelu(second @ w["W_1"] + w["b_1"], approximate=approximate)
    right = (middle + hidden @ w["W_2"] + w["b_2"]).detach().numpy()
    parts = (blocks.REFERENCE, blocks.BY_TANH)[form]
    (ours,) = blocks.expected_block(parts, known, x, real)
    assert np.allclose(ours.values[real], right[real], rtol=1e-10, atol=1e-10)


def test_the_two_heads_of_the_third_document_have_the_shapes_it_prints(draw):
    known = state(torch_multi_head.learned(8, 2), draw, 8, 2)
    weights = {name: value.astype(np.float64) for name, value in known.weights.items()}
    x = draw.normal(2, 4, 8)
    out, trace = layers.multi_head(layers.MULTI_HEAD, weights, 2, x, x, x)
    assert trace.query.shape == trace.key.shape == trace.value.shape == (2, 2, 4, 4)
    assert trace.logits.shape == trace.weights.shape == (2, 2, 4, 4)
    assert trace.out.shape == (2, 2, 4, 4)
    assert out.shape == (2, 4, 8)


@pytest.mark.parametrize("name", CLASSES)
def test_the_bound_is_wider_than_errors_in_float32_and_narrower_than_any_mistake(name, seeds):
    spec = specs.load(name)
    for seed in seeds:
        found = direct_layers(spec)
        drawn = found.drawn(Draw(seed, "bound"), masked=(False, True), smallest=1)
        for returned, call in zip(found.proxy.each(drawn), drawn, strict=True):
            expected = found.expected(*call)
            out = returned["out"].values.astype(np.float64)
            compared = True if expected.compared is None else expected.compared
            error = np.where(compared, np.abs(out - expected.values), 0)
            bound = expected.roundoffs * 2.0**-24
            assert (error <= bound / 2).all()
            assert bound.max() < 1e-4 * np.abs(expected.values).max()


def direct_layers(spec, cls=None):
    """The layers role of a spec, over the reference or another class."""
    from harness.candidate.functions import Candidate

    (point,) = spec.entry_points
    functions = spec.assemble(spec.reference) if cls is None else {point.name: cls}
    candidate = Candidate(spec, DirectSession(functions, arrays="torch"))
    return spec.roles(candidate.entry_points("check"))["layers"]


def test_gradients_of_a_layer_are_those_of_autograd_through_pytorch_s_layer(draw):
    found = direct_layers(torch_multi_head.SPEC)
    layer = found.proxy.drawn(draw, D, H)
    given = found.inputs(draw, (D, H), masked=True)
    cotangent = draw.normal(*given[0].shape)
    of_inputs, of_weights = found.gradients(layer, given, cotangent)
    right = pytorch_attention(layer.weights)
    sources = [tensor(a).double().requires_grad_() for a in given[:3]]
    out, _ = right(*sources, attn_mask=tensor(~given[3]).flatten(0, 1))
    (out * tensor(cotangent)).sum().backward()
    for ours, source in zip(of_inputs, sources, strict=True):
        assert np.allclose(ours, source.grad, rtol=1e-9, atol=1e-9)
    fused = right.in_proj_weight.grad.numpy()
    for place, name in enumerate("QKV"):
        part = fused[place * D : (place + 1) * D].T
        assert np.allclose(of_weights[f"W_{name}"], part, rtol=1e-9, atol=1e-9)
    assert np.allclose(of_weights["W_O"], right.out_proj.weight.grad.T, rtol=1e-9, atol=1e-9)


ANSWERS = {
    "zeros": lambda out, first: torch.zeros_like(out),
    "ones": lambda out, first: torch.ones_like(out),
    "random": lambda out, first: torch.randn_like(out),
    "its input": lambda out, first: first if first.shape == out.shape else torch.zeros_like(out),
    "nothing": lambda out, first: None,
    "text": lambda out, first: "out",
    "NaN": lambda out, first: out * float("nan"),
    "a number": lambda out, first: 0.5,
    "the wrong shape": lambda out, first: out[:, :1],
    "complex numbers": lambda out, first: out.to(torch.complex64),
}


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_a_trivial_class_earns_nothing_and_breaks_no_check(name, answer):
    spec = specs.load(name)
    ((class_name, right),) = spec.assemble(spec.reference).items()

    class Trivial(right):
        def forward(self, *given):
            returned = super().forward(*given)
            pair = isinstance(returned, tuple)
            out = answer(returned[0] if pair else returned, given[0])
            return (out, returned[1]) if pair else out

    checks, _ = run_checks(spec, DirectSession({class_name: Trivial}, arrays="torch"), "seed")
    assert [check.id for check in checks if check.earned] == []
    assert [check.message for check in checks if check.outcome == "invalid"] == []
    assert verdict(checks) is Verdict.FAILED


def test_an_error_whose_square_underflows_is_still_allowed():
    assert rounding.bound(np.array([1e-200]) ** 2) > 0
