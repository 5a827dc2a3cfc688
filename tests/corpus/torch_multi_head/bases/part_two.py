# take-home, part 2
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
        self.w_qs = nn.Linear(d_model, d_model)
        self.w_ks = nn.Linear(d_model, d_model)
        self.w_vs = nn.Linear(d_model, d_model)
        self.dense = nn.Linear(d_model, d_model)

    def forward(self, q, k, v, mask=None):
        B = q.size(0)
        Q = self.w_qs(q)
        K = self.w_ks(k)
        V = self.w_vs(v)
        Q = Q.reshape(B, -1, self.num_heads, self.d_head).transpose(1, 2)
        K = K.reshape(B, -1, self.num_heads, self.d_head).transpose(1, 2)
        V = V.reshape(B, -1, self.num_heads, self.d_head).transpose(1, 2)
        sim = Q @ K.transpose(-2, -1) / math.sqrt(self.d_head)
        if mask is not None:
            sim = sim.masked_fill(~mask, torch.finfo(sim.dtype).min)
        alpha = torch.softmax(sim, dim=-1)
        out = alpha @ V
        out = out.transpose(1, 2).reshape(B, -1, self.num_heads * self.d_head)
        return self.dense(out)
