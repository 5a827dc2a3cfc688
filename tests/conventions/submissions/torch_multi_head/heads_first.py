import math

import torch
from torch import nn


class MultiheadAttention(nn.Module):
    def __init__(self, heads, d_model, dropout=0.1):
        super().__init__()
        self.d_k = d_model // heads
        self.h = heads
        self.q_linear = nn.Linear(d_model, d_model)
        self.k_linear = nn.Linear(d_model, d_model)
        self.v_linear = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)
        self.out = nn.Linear(d_model, d_model)

    def forward(self, values, keys, query, mask):
        n, tq, d = query.shape
        q = self.q_linear(query).view(n, tq, self.h, self.d_k).transpose(1, 2)
        k = self.k_linear(keys).view(n, -1, self.h, self.d_k).transpose(1, 2)
        v = self.v_linear(values).view(n, -1, self.h, self.d_k).transpose(1, 2)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        weights = self.dropout(torch.softmax(scores, dim=-1))
        out = (weights @ v).transpose(1, 2).reshape(n, tq, d)
        return self.out(out), weights
