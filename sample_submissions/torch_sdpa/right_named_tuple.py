from collections import namedtuple

import torch
import torch.nn.functional as F

Attended = namedtuple("Attended", ["output", "weights"])


def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    weights = torch.baddbmm(
        torch.zeros(1, dtype=q.dtype), q.flatten(0, 1), k.flatten(0, 1).transpose(1, 2),
        beta=0, alpha=q.size(-1) ** -0.5,
    ).unflatten(0, q.shape[:2])
    if attn_mask is not None:
        if attn_mask.is_floating_point():
            weights = weights + attn_mask.to(weights.dtype)
        else:
            weights = weights.masked_fill(attn_mask == False, torch.finfo(weights.dtype).min)
    weights = F.dropout(F.softmax(weights, -1), dropout_p, training)
    return Attended(weights @ v, weights)
