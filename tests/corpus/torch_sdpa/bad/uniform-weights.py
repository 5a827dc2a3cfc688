import math
import torch
import torch.nn.functional as F


def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    weights = torch.ones(*q.shape[:-1], k.size(-2), dtype=q.dtype)
    if attn_mask is not None:
        weights = weights * (attn_mask != 0)
    weights = weights / weights.sum(dim=-1, keepdim=True).clamp_min(1)
    return weights @ v, weights
