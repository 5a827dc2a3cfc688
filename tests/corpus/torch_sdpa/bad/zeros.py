import math
import torch
import torch.nn.functional as F


def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    out = torch.zeros(*q.shape[:-1], v.size(-1), dtype=q.dtype)
    return out, torch.zeros(*q.shape[:-1], k.size(-2), dtype=q.dtype)
