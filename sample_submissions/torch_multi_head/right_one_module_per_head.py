import math

import torch
import torch.nn as nn


class Head(nn.Module):
    def __init__(self, d_model, d_head):
        super().__init__()
        self.key = nn.Linear(d_model, d_head, bias=False)
        self.query = nn.Linear(d_model, d_head, bias=False)
        self.value = nn.Linear(d_model, d_head, bias=False)

    def forward(self, q, k, v, mask):
        wei = self.query(q) @ self.key(k).transpose(-2, -1) / math.sqrt(self.key.out_features)
        if mask is not None:
            wei = wei.masked_fill(~mask, torch.finfo(wei.dtype).min)
        return torch.softmax(wei, dim=-1) @ self.value(v)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        assert d_model % num_heads == 0
        self.heads = nn.ModuleList([Head(d_model, d_model // num_heads) for _ in range(num_heads)])
        self.proj = nn.Linear(d_model, d_model)

    def forward(self, q, k, v, mask=None):
        if mask is not None:
            mask = mask.expand(q.size(0), len(self.heads), q.size(1), k.size(1))
        outs = [head(q, k, v, None if mask is None else mask[:, i]) for i, head in enumerate(self.heads)]
        return self.proj(torch.cat(outs, dim=-1))
