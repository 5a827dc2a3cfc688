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
        cache = KVCache() if cache is None else cache.copy()
        B, T, D = x.shape
        split = lambda y: y.unflatten(-1, (self.h, self.d)).transpose(1, 2)
        cache.append(split(self.k(x)), split(self.v(x)))
        K, V = cache.keys(), cache.values()
        scores = split(self.q(x)) @ K.mT / self.d ** 0.5
        future = torch.ones(T, len(cache), dtype=torch.bool).triu(len(cache) - T + 1)
        weights = scores.masked_fill(future, float("-inf")).softmax(-1)
        return self.o((weights @ V).transpose(1, 2).flatten(2)), cache


class KVCache:
    def __init__(self, pieces=()):
        self.pieces = list(pieces)

    def copy(self):
        return KVCache(self.pieces)

    def append(self, k, v):
        self.pieces.append((k, v))

    def keys(self):
        return torch.cat([k for k, _ in self.pieces], dim=2)

    def values(self):
        return torch.cat([v for _, v in self.pieces], dim=2)

    def __len__(self):
        return sum(k.size(2) for k, _ in self.pieces)
