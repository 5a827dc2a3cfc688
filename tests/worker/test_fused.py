import multiprocessing
import traceback

import pytest

EVASIONS = {
    "functional": "F.scaled_dot_product_attention(q, q, q)",
    "kept before": "kept(q, q, q, is_causal=True)",
    "C module": "torch._C._nn.scaled_dot_product_attention(q, q, q)",
    "operator": "torch.ops.aten.scaled_dot_product_attention(q, q, q)",
    "overload": "torch.ops.aten.scaled_dot_product_attention.default(q, q, q)",
    "flash": "torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(q, q, q)",
    "math": "torch._scaled_dot_product_attention_math(q, q, q)",
    "vmap": "torch.vmap(lambda a: F.scaled_dot_product_attention(a, a, a))(q)",
    "grad": "torch.func.grad(lambda a: F.scaled_dot_product_attention(a, a, a).sum())(q)",
    "module": "nn.MultiheadAttention(4, 2)(x, x, x)",
    "module in evaluation": "nn.MultiheadAttention(4, 2).eval()(x, x, x, need_weights=False)",
    "subclass": "type('Mine', (nn.MultiheadAttention,), {})(4, 2)(x, x, x)",
    "functional module": "F.multi_head_attention_forward(x, x, x, 4, 2, *[None] * 9)",
    "encoder layer": "nn.TransformerEncoderLayer(4, 2).eval()(x)",
    "decoder layer": "nn.TransformerDecoderLayer(4, 2)(x, x)",
    "flex": "flex.flex_attention(q, q, q)",
    "flex's operator": "torch._higher_order_ops.flex_attention(q, q, q, None, None, 1.0, {})",
    "flex's mathematics": "higher.math_attention(q, q, q, *FLEX)",
    "flex's scores": "higher._math_attention_inner(q, q, q, *FLEX)",
    "flex's dense kernel": "higher.sdpa_dense(q, q, q, *FLEX)",
    "flex by key": "higher.flex_attention.py_kernels[COMPOSITE](q, q, q, *FLEX)",
    "onnx": "__import__('torch.onnx.ops').onnx.ops.attention(q, q, q)",
    "quantizable": "quantizable.MultiheadAttention(4, 2)(x, x, x)",
    "quantizable inside": "quantizable.MultiheadAttention(4, 2)._forward_impl(x, x, x)",
    "decomposition": "torch._decomp.decomposition_table[FLASH](q, q, q)",
    "autocast": "torch.autocast('cpu')(F.scaled_dot_product_attention)(q, q, q)",
    "functionalized": "torch.func.functionalize(F.scaled_dot_product_attention)(q, q, q)",
}
#: What the expressions above name: a call of flex attention without a mask, and two operators.
NAMES = """
import importlib
from torch.ao.nn import quantizable
higher = importlib.import_module("torch._higher_order_ops.flex_attention")
whole = lambda b, h, row, column: row == row
FLEX = (lambda score, *place: score, (1, 1, *[None] * 10, 128, 128, whole), 0.5, {})
COMPOSITE = torch._C.DispatchKey.CompositeExplicitAutograd
FLASH = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default
"""

BY_HAND = [
    "torch.softmax(q @ q.transpose(-2, -1) / 2, dim=-1) @ q",
    "nn.functional.softmax(torch.einsum('bhqd,bhkd->bhqk', q, q), -1)",
    "nn.Linear(4, 4)(x).sum().backward()",
    "nn.LayerNorm(4)(nn.Dropout(0.1)(x))",
]


def _try_all(grad, expressions, results):
    """Runs in a process of its own: what is blocked stays blocked."""
    import torch
    import torch.nn.attention.flex_attention as flex
    from torch import nn
    from torch.nn import functional as F

    from harness.worker import fused

    kept = F.scaled_dot_product_attention
    library = fused.block()
    names = {"torch": torch, "flex": flex, "nn": nn, "F": F, "kept": kept}
    exec(NAMES, names)
    names["q"] = torch.randn(1, 2, 3, 4, requires_grad=grad)
    names["x"] = torch.randn(3, 1, 4, requires_grad=grad)
    for label, expression in expressions.items():
        try:
            exec(compile(expression, "answer.py", "exec"), names)
            results.put((label, "", ()))
        except Exception as error:
            files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
            results.put((label, f"{type(error).__name__}: {error}", tuple(files)))
    assert library is not None


@pytest.fixture(scope="module", params=[False, True], ids=["no grad", "grad"])
def tried(request):
    """What every expression raised, or nothing."""
    context = multiprocessing.get_context("spawn")
    results = context.SimpleQueue()
    expressions = EVASIONS | {text: text for text in BY_HAND}
    child = context.Process(target=_try_all, args=(request.param, expressions, results))
    child.start()
    found = [results.get() for _ in expressions]
    child.join()
    return {label: (raised, files) for label, raised, files in found}


@pytest.mark.parametrize("label", EVASIONS)
def test_a_fused_call_raises_names_itself_and_leads_to_the_line(tried, label):
    raised, files = tried[label]
    assert raised.startswith("NotByHand: ")
    assert "is not allowed in this assignment" in raised
    assert "answer.py" in files


@pytest.mark.parametrize("expression", BY_HAND)
def test_attention_by_hand_goes_on_working(tried, expression):
    assert tried[expression][0] == ""
