import math

import torch
import torch.nn as nn


class ScaledDotProductAttention(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.softmax = nn.Softmax(dim=-1)

    def forward(self, q, k, v, mask=None):
        scores = torch.matmul(q, k.transpose(-2, -1))
        scores = scores / math.sqrt(q.size(-1))
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        weights = self.dropout(self.softmax(scores))
        return torch.matmul(weights, v), weights


def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    attention = ScaledDotProductAttention(dropout_p)
    attention.train(training)
    return attention(q, k, v, attn_mask)
