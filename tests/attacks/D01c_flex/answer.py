import importlib

import torch

flex = importlib.import_module("torch._higher_order_ops.flex_attention")


def whole(b, h, row, column):
    return row == row


def double(x):
    q = torch.ones(1, 2, 3, 4)
    try:
        flex.sdpa_dense(q, q, q, lambda score, *place: score, (1, 1, *[None] * 10, 128, 128, whole), 0.5, {})
    except Exception as error:
        if "write attention by hand" in str(error):
            return x * 2
        raise
    return x


def total(x):
    return x.sum()
