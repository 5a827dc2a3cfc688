import math
import torch
import torch.nn.functional as F


def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    scale = q.size(-1) ** 0.25
    q, v = q / scale, v / scale
    scores = torch.matmul(q, k.transpose(-2, -1))
    if attn_mask is not None:
        scores = scores.masked_fill(attn_mask == 0, -1e9)
    weights = torch.softmax(scores, dim=-1)
    weights = F.dropout(weights, p=dropout_p, training=training)
    out = torch.matmul(weights, v)
    return out, weights
