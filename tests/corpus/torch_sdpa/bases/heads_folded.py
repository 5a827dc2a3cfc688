import math
import torch
import torch.nn.functional as F


def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    B, H, Tq, d = q.shape
    Tk = k.size(2)
    # fold the heads into the batch and use bmm
    q = q.reshape(B * H, Tq, d)
    k = k.reshape(B * H, Tk, d)
    v = v.reshape(B * H, Tk, -1)
    scores = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(d)
    if attn_mask is not None:
        mask = attn_mask.expand(B, H, Tq, Tk).reshape(B * H, Tq, Tk)
        scores = scores.masked_fill(mask == 0, -1e9)
    weights = torch.softmax(scores, dim=-1)
    weights = F.dropout(weights, dropout_p, training)
    out = torch.bmm(weights, v)
    return out.view(B, H, Tq, -1), weights.view(B, H, Tq, Tk)
