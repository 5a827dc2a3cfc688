import math
import torch
import torch.nn.functional as F


def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    B, H, T, d = q.shape
    # fold the heads into the batch and use bmm
    q = q.reshape(B * H, T, d)
    k = k.reshape(B * H, T, d)
    v = v.reshape(B * H, T, d)
    scores = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(d)
    if attn_mask is not None:
        mask = attn_mask.expand(B, H, T, T).reshape(B * H, T, T)
        scores = scores.masked_fill(mask == 0, -1e9)
    weights = torch.softmax(scores, dim=-1)
    weights = F.dropout(weights, dropout_p, training)
    out = torch.bmm(weights, v)
    return out.view(B, H, T, -1), weights.view(B, H, T, T)
