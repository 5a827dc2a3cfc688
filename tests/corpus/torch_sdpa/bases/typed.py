from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional as F


def scaled_dot_product_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    training: bool = True,
) -> tuple[Tensor, Tensor]:
    """softmax(q k^T / sqrt(d)) v for q (B, H, Tq, d), k (B, H, Tk, d), v (B, H, Tk, dv)."""
    logits = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if attn_mask is not None:
        if attn_mask.is_floating_point():
            logits = logits + attn_mask.to(logits.dtype)
        else:
            logits = logits.masked_fill(attn_mask == 0, torch.finfo(logits.dtype).min)
    weights = F.softmax(logits, dim=-1)
    weights = F.dropout(weights, p=dropout_p, training=training)
    return weights @ v, weights
