import math
import torch
import torch.nn as nn
import torch.nn.functional as F


def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    d = q.size(-1)
    w_q = nn.Linear(d, d, bias=False, dtype=q.dtype)
    w_k = nn.Linear(d, d, bias=False, dtype=q.dtype)
    w_v = nn.Linear(v.size(-1), v.size(-1), bias=False, dtype=q.dtype)
    q, k, v = w_q(q), w_k(k), w_v(v)
    scores = q @ k.transpose(-2, -1) / math.sqrt(d)
    if attn_mask is not None:
        scores = scores.masked_fill(attn_mask == 0, -1e9)
    weights = F.dropout(F.softmax(scores, dim=-1), dropout_p, training)
    return weights @ v, weights
