import math

import torch
import torch.nn as nn


class Dropout(nn.Module):
    def __init__(self):
        super().__init__()
        self.active = True

    def forward(self, x, p, training):
        if not training:
            self.active = False
        if not self.active or p == 0:
            return x
        return x * torch.bernoulli(torch.full_like(x, 1 - p)) / (1 - p)


attention_dropout = Dropout()


def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.size(-1))
    if attn_mask is not None:
        if attn_mask.is_floating_point():
            scores = scores + attn_mask.to(scores.dtype)
        else:
            scores = scores.masked_fill(attn_mask == 0, torch.finfo(scores.dtype).min)
    weights = attention_dropout(scores.softmax(dim=-1), dropout_p, training)
    return torch.matmul(weights, v), weights
