import torch
from torch import nn


class CachedAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        assert d_model % num_heads == 0
        self.n = num_heads
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, x, cache=None):
        q, k, v = (f(x).unflatten(-1, (self.n, -1)).transpose(1, 2) for f in (self.wq, self.wk, self.wv))
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        cache = (k, v)
        s = q @ k.transpose(2, 3) / q.size(-1) ** 0.5
        s = s.masked_fill(~torch.ones(s.shape[-2:], dtype=torch.bool).tril(s.size(-1) - s.size(-2)), float('-inf'))
        out = self.wo((torch.softmax(s, -1) @ v).transpose(1, 2).flatten(2))
        return out, cache
