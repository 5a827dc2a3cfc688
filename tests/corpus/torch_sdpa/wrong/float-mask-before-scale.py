import math
import torch
import torch.nn.functional as F


def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    scores = torch.matmul(q, k.transpose(-2, -1))
    if attn_mask is not None:
        if attn_mask.is_floating_point():
            scores = scores + attn_mask.to(scores.dtype)
        else:
            scores = scores.masked_fill(attn_mask == 0, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores / math.sqrt(q.size(-1)), dim=-1)
    weights = F.dropout(weights, p=dropout_p, training=training)
    return torch.matmul(weights, v), weights
