import math
import torch
import torch.nn.functional as F


def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if attn_mask is not None:
        scores = scores.masked_fill(attn_mask == 0, -1e9)
    weights = torch.zeros_like(scores)
    t = 0
    while t < q.size(2):
        weights[:, :, t] = F.softmax(scores[:, :, t], dim=-1)
    return weights @ v, weights
