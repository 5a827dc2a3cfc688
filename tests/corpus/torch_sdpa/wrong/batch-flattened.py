import math
import torch
import torch.nn.functional as F


def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    B, H, Tq, d = q.shape
    q2 = q.transpose(0, 1).reshape(H, -1, d)
    k2 = k.transpose(0, 1).reshape(H, -1, d)
    v2 = v.transpose(0, 1).reshape(H, -1, v.size(-1))
    scores = q2 @ k2.transpose(1, 2) / math.sqrt(d)
    weights = F.softmax(scores, dim=-1)
    weights = F.dropout(weights, dropout_p, training)
    out = (weights @ v2).reshape(H, B, Tq, -1).transpose(0, 1)
    return out, weights
