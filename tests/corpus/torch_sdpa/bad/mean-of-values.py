import math
import torch
import torch.nn.functional as F


def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    mean = v.mean(dim=-2, keepdim=True)
    return mean.expand(-1, -1, q.size(-2), -1), None
