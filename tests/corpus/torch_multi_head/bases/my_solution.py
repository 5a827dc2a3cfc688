"""My solution."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        assert d_model % num_heads == 0
        self.num_heads = num_heads
        self.d_head = d_model // num_heads
        self.queries = nn.Linear(d_model, d_model)
        self.keys = nn.Linear(d_model, d_model)
        self.values = nn.Linear(d_model, d_model)
        self.fc_out = nn.Linear(d_model, d_model)

    def forward(self, q, k, v, mask=None):
        B = q.size(0)
        Q = self.queries(q)
        K = self.keys(k)
        V = self.values(v)
        Q = Q.reshape(B, -1, self.num_heads, self.d_head).transpose(1, 2)
        K = K.reshape(B, -1, self.num_heads, self.d_head).transpose(1, 2)
        V = V.reshape(B, -1, self.num_heads, self.d_head).transpose(1, 2)
        energy = Q @ K.transpose(-2, -1) / math.sqrt(self.d_head)
        if mask is not None:
            energy = energy.masked_fill(~mask, torch.finfo(energy.dtype).min)
        attention = torch.softmax(energy, dim=-1)
        out = attention @ V
        out = out.transpose(1, 2).reshape(B, -1, self.num_heads * self.d_head)
        return self.fc_out(out)
