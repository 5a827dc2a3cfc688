"""Scaled dot-product attention, written out."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional as F

__all__ = ["scaled_dot_product_attention"]


def _additive(mask: Tensor, like: Tensor) -> Tensor:
    """Turn any of the supported masks into something that is added to the scores.

    Boolean and integer masks: zero means blocked. Floating masks are additive already.
    The fill is finite so that a row without any visible key stays finite, too.
    """
    floor = torch.finfo(like.dtype).min / 2
    if mask.is_floating_point():
        return mask.to(like.dtype).clamp(min=floor)
    bias = torch.zeros_like(mask, dtype=like.dtype)
    return bias.masked_fill(mask == 0, floor)


def scaled_dot_product_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    training: bool = True,
) -> tuple[Tensor, Tensor]:
    """Attend from every query to every key.

    Args:
        q: queries, ``(B, H, Tq, d)``.
        k: keys, ``(B, H, Tk, d)``.
        v: values, ``(B, H, Tk, dv)``.
        attn_mask: broadcastable to ``(B, H, Tq, Tk)``.
        dropout_p: probability with which an attention weight is zeroed.
        training: apply dropout only if true.

    Returns:
        ``(B, H, Tq, dv)`` and the weights ``(B, H, Tq, Tk)``.

    Raises:
        ValueError: the shapes do not fit together.
    """
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(f"q has width {q.shape[-1]}, k has {k.shape[-1]}")
    if k.shape[-2] != v.shape[-2]:
        raise ValueError(f"{k.shape[-2]} keys but {v.shape[-2]} values")

    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if attn_mask is not None:
        scores = scores + _additive(attn_mask, scores)
    weights = F.dropout(scores.softmax(dim=-1), p=dropout_p, training=training)
    return weights @ v, weights
