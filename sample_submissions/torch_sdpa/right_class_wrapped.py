import math
from typing import Optional

import torch
from torch import nn


class ScaledDotProductAttention(nn.Module):
    def __init__(self, dropout: float = 0.0):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.softmax = nn.Softmax(dim=-1)

    def forward(self, q, k, v, mask: Optional[torch.Tensor] = None):
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.size(-1))
        scores = self.mask(scores, mask)
        weights = self.dropout(self.softmax(scores))
        return torch.matmul(weights, v), weights

    @staticmethod
    def mask(scores, mask):
        if mask is None:
            return scores
        if mask.is_floating_point():
            return scores + mask.to(scores.dtype)
        return scores.masked_fill(mask == 0, torch.finfo(scores.dtype).min)


def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    layer = ScaledDotProductAttention(dropout_p).train(training)
    return layer(q, k, v, attn_mask)
