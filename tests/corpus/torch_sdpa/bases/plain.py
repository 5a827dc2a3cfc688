import math
import torch
import torch.nn.functional as F


def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    d_head = q.size(-1)
    scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(d_head)
    if attn_mask is not None:
        scores = scores.masked_fill(attn_mask == 0, -1e9)
    weights = torch.softmax(scores, dim=-1)
    weights = F.dropout(weights, p=dropout_p, training=training)
    out = torch.matmul(weights, v)
    return out, weights
