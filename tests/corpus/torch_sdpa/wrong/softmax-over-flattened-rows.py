import math
import torch
import torch.nn.functional as F


def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    B, H, Tq, d = q.shape
    Tk = k.size(2)
    scores = q @ k.transpose(-2, -1) / math.sqrt(d)
    if attn_mask is not None:
        scores = scores.masked_fill(attn_mask == 0, -1e9)
    softmax = torch.nn.Softmax(dim=0)
    weights = softmax(scores.view(-1, Tk)).view(B, H, Tq, Tk)
    weights = F.dropout(weights, dropout_p, training)
    return weights @ v, weights
