import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"{d_model} % {num_heads} != 0")
        self.n = num_heads
        self.d = d_model // num_heads
        make = lambda: nn.ModuleList(nn.Linear(d_model, self.d) for _ in range(num_heads))
        self.queries, self.keys, self.values = make(), make(), make()
        self.unify_heads = nn.Linear(d_model, d_model)

    def forward(self, q, k, v, mask=None):
        results = []
        for h in range(self.n):
            Q, K, V = self.queries[h](q), self.keys[h](k), self.values[h](v)
            s = torch.einsum("bqd,bkd->bqk", Q, K) / self.d ** 0.5
            if mask is not None:
                m = mask if mask.dim() < 4 else mask[:, h if mask.size(1) > 1 else 0]
                s = s.masked_fill(~m, torch.finfo(s.dtype).min)
            results.append(torch.einsum("bqk,bkd->bqd", s.softmax(-1), V))
        return self.unify_heads(torch.cat(results, -1))
