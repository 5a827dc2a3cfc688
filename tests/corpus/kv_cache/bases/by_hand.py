# attention, written by hand
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
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        B, T, D = x.shape
        qh = self.q_proj(x)
        kh = self.k_proj(x)
        vh = self.v_proj(x)
        qh = qh.reshape(B, -1, self.num_heads, self.d_head).transpose(1, 2)
        kh = kh.reshape(B, -1, self.num_heads, self.d_head).transpose(1, 2)
        vh = vh.reshape(B, -1, self.num_heads, self.d_head).transpose(1, 2)
        if cache is not None:
            kh = torch.cat([cache[0], kh], dim=2)
            vh = torch.cat([cache[1], vh], dim=2)
        cache = (kh, vh)
        logits = qh @ kh.transpose(-2, -1) / math.sqrt(self.d_head)
        mask = torch.ones(T, kh.size(2), dtype=torch.bool).tril(kh.size(2) - T)
        logits = logits.masked_fill(~mask, float('-inf'))
        probs = torch.softmax(logits, dim=-1)
        out = probs @ vh
        out = out.transpose(1, 2).reshape(B, -1, self.num_heads * self.d_head)
        return self.out_proj(out), cache
