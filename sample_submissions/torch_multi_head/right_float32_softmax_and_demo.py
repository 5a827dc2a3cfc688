import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        assert d_model % num_heads == 0
        self.num_heads = num_heads
        self.projections = nn.ModuleDict({name: nn.Linear(d_model, d_model) for name in "qkvo"})

    def forward(self, q, k, v, mask=None):
        B = q.size(0)
        q, k, v = (self.projections[n](x).reshape(B, x.size(1), self.num_heads, -1).transpose(1, 2)
                   for n, x in (("q", q), ("k", k), ("v", v)))
        scores = (q @ k.mT) / q.size(-1) ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1, dtype=torch.float64).to(v.dtype)
        out = (weights @ v).transpose(1, 2).flatten(2)
        return self.projections["o"](out)


if __name__ == "__main__":
    layer = MultiHeadAttention(8, 2)
    print(layer(*[torch.randn(1, 3, 8)] * 3).shape)
