from typing import NamedTuple

import torch
from torch import nn


class CachedAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        assert d_model % num_heads == 0
        self.h, self.d = num_heads, d_model // num_heads
        self.q = nn.Linear(d_model, d_model)
        self.k = nn.Linear(d_model, d_model)
        self.v = nn.Linear(d_model, d_model)
        self.o = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        q, k, v = (p(x).unflatten(2, (self.h, -1)).permute(0, 2, 1, 3) for p in (self.q, self.k, self.v))
        start = 0 if cache is None else cache.length
        if start:
            k, v = torch.cat([cache.k, k], 2), torch.cat([cache.v, v], 2)
        position = start + torch.arange(x.size(1))
        visible = position[:, None] >= torch.arange(k.size(2))[None]
        p = (q @ k.mT * self.d ** -0.5).masked_fill(~visible, float("-inf")).softmax(-1)
        y = (p @ v).permute(0, 2, 1, 3).flatten(2)
        return self.o(y), Cache(k, v, k.size(2))


class Cache(NamedTuple):
    k: torch.Tensor
    v: torch.Tensor
    length: int
