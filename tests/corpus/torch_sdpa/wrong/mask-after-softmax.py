# 手写 scaled dot-product attention
import math
import torch
import torch.nn.functional as F


def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    # q: [B, H, Tq, d]  k: [B, H, Tk, d]  v: [B, H, Tk, dv]
    d = q.shape[-1]
    scores = q @ k.transpose(-2, -1) / math.sqrt(d)      # [B, H, Tq, Tk]
    weights = F.softmax(scores, dim=-1)                  # 对 key 归一化
    if attn_mask is not None:
        weights = weights.masked_fill(attn_mask == 0, 0.0)
    weights = F.dropout(weights, dropout_p, training)
    return weights @ v, weights
