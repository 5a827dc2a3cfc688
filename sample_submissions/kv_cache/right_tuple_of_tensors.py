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
        b, t, _ = x.shape
        q, k, v = (f(x).view(b, t, self.h, self.d).transpose(1, 2) for f in (self.q, self.k, self.v))
        if cache is not None:
            past_k, past_v = cache
            k, v = torch.cat([past_k, k], dim=2), torch.cat([past_v, v], dim=2)
        total = k.size(2)
        allowed = torch.ones(t, total, dtype=torch.bool).tril(diagonal=total - t)
        s = (q @ k.transpose(-1, -2)) / self.d ** 0.5
        s = s.masked_fill(~allowed, float("-inf"))
        out = (s.softmax(-1) @ v).transpose(1, 2).reshape(b, t, -1)
        return self.o(out), (k, v)
