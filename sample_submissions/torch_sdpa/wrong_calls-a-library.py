import math
import torch
import torch.nn.functional as F


def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    if attn_mask is not None and not attn_mask.is_floating_point():
        attn_mask = attn_mask.bool()
    out = F.scaled_dot_product_attention(q, k, v, attn_mask, dropout_p if training else 0.0)
    # the library does not return the weights, recompute them
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if attn_mask is not None:
        scores = scores.masked_fill(~attn_mask, float("-inf"))
    return out, torch.softmax(scores, dim=-1)
