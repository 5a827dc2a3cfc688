import torch
from torch import nn


class CachedAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        assert d_model % num_heads == 0
        self.h, self.d = num_heads, d_model // num_heads
        self.heads = nn.ModuleList(nn.ModuleDict({n: nn.Linear(d_model, self.d) for n in ("query", "key", "value")}) for _ in range(num_heads))
        self.output = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        new_cache, outs = [], []
        for i, head in enumerate(self.heads):
            q, k, v = head["query"](x), head["key"](x), head["value"](x)
            if cache is not None:
                k, v = torch.cat([cache[i][0], k], 1), torch.cat([cache[i][1], v], 1)
            new_cache.append((k, v))
            s = q @ k.transpose(1, 2) / self.d ** 0.5
            s = s.masked_fill(torch.ones_like(s, dtype=torch.bool).triu(k.size(1) - q.size(1) + 1), float("-inf"))
            outs.append(s.softmax(-1) @ v)
        return self.output(torch.cat(outs, -1)), new_cache
