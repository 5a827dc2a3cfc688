"""Makes the calls that do attention as a whole raise, where it is to be written by hand.

The operators are replaced in torch's dispatcher, below every Python name they can be reached by:
``F.``, ``torch._C._nn.``, ``torch.ops.aten.``. ``nn.MultiheadAttention`` with weights goes round
them, since it is Python down to ``baddbmm``; its functional form is replaced in Python, which a
copy of the source evades; so does code that finds the library object and destroys it. Fifty other
ways, with and without gradients, were tried: blocked, or they do not run on a CPU. The effect is on
this process, which serves one submission.
"""

from __future__ import annotations

import importlib
import importlib.abc
import sys
import warnings
from typing import Any, NoReturn

#: Operator -> what a person calls it.
OPERATORS = {
    "scaled_dot_product_attention": "F.scaled_dot_product_attention",
    "_scaled_dot_product_attention_math": "F.scaled_dot_product_attention",
    "_scaled_dot_product_flash_attention_for_cpu": "F.scaled_dot_product_attention",
    "_scaled_dot_product_fused_attention_overrideable": "F.scaled_dot_product_attention",
    "_native_multi_head_attention": "nn.MultiheadAttention",
    "_transformer_encoder_layer_fwd": "nn.TransformerEncoderLayer",
}
#: An operator that has an implementation of its own for a key does not ask a more general one;
#: the last is ``torch.vmap``'s.
_KEYS = ("CPU", "AutogradCPU", "CompositeImplicitAutograd", "FuncTorchVmapMode")


#: Modules that hold attention and are loaded only where somebody asks for them.
MODULES = {"torch.onnx.ops": "torch.onnx.ops.attention"}


class NotByHand(RuntimeError):
    """A call that this assignment asks to be written by hand."""


def block() -> object:
    """Make the fused attention calls of torch raise ``NotByHand``.

    The operators stay replaced for as long as the object returned is kept.
    """
    import torch
    from torch.ao.nn import quantizable
    from torch.nn.attention import flex_attention

    # The package has an operator of the same name, which hides the module.
    higher_order: Any = importlib.import_module("torch._higher_order_ops.flex_attention")

    library: Any = torch.library.Library("aten", "IMPL")  # type: ignore[no-untyped-call]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "overriding a previously registered kernel"
        for operator, name in OPERATORS.items():
            if hasattr(torch.ops.aten, operator):  # not every version has all of them
                for key in _KEYS:
                    library.impl(operator, _refusal(name), key)
    replaced = [
        (torch.nn.functional, "multi_head_attention_forward", "F.multi_head_attention_forward"),
        (torch.nn.MultiheadAttention, "forward", "nn.MultiheadAttention"),
        (torch.nn.TransformerEncoderLayer, "forward", "nn.TransformerEncoderLayer"),
        (torch.nn.TransformerDecoderLayer, "forward", "nn.TransformerDecoderLayer"),
        (flex_attention, "flex_attention", "flex_attention"),
        (higher_order.FlexAttentionHOP, "__call__", "torch._higher_order_ops.flex_attention"),
        # What every kernel of that operator calls, on a CPU.
        (higher_order, "math_attention", "torch._higher_order_ops.flex_attention"),
        (higher_order, "_math_attention_inner", "torch._higher_order_ops.flex_attention"),
        (quantizable.MultiheadAttention, "forward", "quantizable.MultiheadAttention"),
        (quantizable.MultiheadAttention, "_forward_impl", "quantizable.MultiheadAttention"),
    ]
    for owner, attribute, name in replaced:
        setattr(owner, attribute, _refusal(name))
    sys.meta_path.insert(0, _Refused())
    return library


class _Refused(importlib.abc.MetaPathFinder):
    """Makes the import of a module that holds attention raise ``NotByHand``."""

    def find_spec(self, fullname: str, path: object, target: object = None) -> None:
        if name := MODULES.get(fullname):
            _refusal(name)()


def _refusal(name: str) -> Any:
    def refuse(*arguments: Any, **keywords: Any) -> NoReturn:
        raise NotByHand(f"{name} is not allowed in this assignment: write attention by hand")

    return refuse
