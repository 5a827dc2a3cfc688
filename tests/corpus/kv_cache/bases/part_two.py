# take-home, part 2
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class CachedAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        assert d_model % num_heads == 0
        self.num_heads = num_heads
        self.d_head = d_model // num_heads
        self.w_qs = nn.Linear(d_model, d_model)
        self.w_ks = nn.Linear(d_model, d_model)
        self.w_vs = nn.Linear(d_model, d_model)
        self.dense = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        B, T, D = x.shape
        Q = self.w_qs(x)
        K = self.w_ks(x)
        V = self.w_vs(x)
        Q = Q.reshape(B, -1, self.num_heads, self.d_head).transpose(1, 2)
        K = K.reshape(B, -1, self.num_heads, self.d_head).transpose(1, 2)
        V = V.reshape(B, -1, self.num_heads, self.d_head).transpose(1, 2)
        if cache is not None:
            K = torch.cat([cache[0], K], dim=2)
            V = torch.cat([cache[1], V], dim=2)
        cache = (K, V)
        sim = Q @ K.transpose(-2, -1) / math.sqrt(self.d_head)
        mask = torch.ones(T, K.size(2), dtype=torch.bool).tril(K.size(2) - T)
        sim = sim.masked_fill(~mask, float('-inf'))
        alpha = torch.softmax(sim, dim=-1)
        out = alpha @ V
        out = out.transpose(1, 2).reshape(B, -1, self.num_heads * self.d_head)
        return self.dense(out), cache
