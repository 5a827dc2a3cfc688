import math

import torch
import torch.nn.functional as F


def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(k.size(-1))
    if attn_mask is not None and attn_mask.is_floating_point():
        scores = scores + attn_mask.to(scores.dtype)
        attn_mask = None
    # at least single precision: blocked keys may hold nearly all of the mass before they go
    wide = scores.to(torch.promote_types(scores.dtype, torch.float32))
    p = torch.softmax(wide, dim=-1)
    if attn_mask is not None:
        p = p * attn_mask
        mass = p.sum(dim=-1, keepdim=True)
        p = p / mass.masked_fill(mass == 0, 1)
    p = F.dropout(p.to(q.dtype), p=dropout_p, training=training)
    return torch.matmul(p, v), p
