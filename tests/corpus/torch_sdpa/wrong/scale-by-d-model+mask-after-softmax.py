import math
import torch
import torch.nn.functional as F


def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    d_head = q.size(-1)
    scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.size(1) * d_head)
    weights = torch.softmax(scores, dim=-1)
    if attn_mask is not None:
        weights = weights * attn_mask
    weights = F.dropout(weights, p=dropout_p, training=training)
    out = torch.matmul(weights, v)
    return out, weights
