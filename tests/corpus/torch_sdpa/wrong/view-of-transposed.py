import math
import torch
import torch.nn.functional as F


def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    B, H, Tq, d = q.shape
    Tk, dv = v.shape[-2:]
    rows = q.view(B * H * Tq, 1, d)
    keys = k.view(B * H, Tk, d).repeat_interleave(Tq, dim=0)
    scores = torch.bmm(rows, keys.transpose(1, 2)).view(B, H, Tq, Tk) / math.sqrt(d)
    if attn_mask is not None:
        scores = scores.masked_fill(attn_mask == 0, -1e9)
    weights = F.dropout(F.softmax(scores, dim=-1), dropout_p, training)
    out = torch.bmm(weights.view(B * H, Tq, Tk), v.view(B * H, Tk, dv))
    return out.view(B, H, Tq, dv), weights
