import torch
from torch import nn


class CachedAttention(nn.Module):
    """One head needs no mixing afterwards, so only several heads get an output projection."""

    def __init__(self, d_model, num_heads):
        super().__init__()
        assert d_model % num_heads == 0
        self.h = num_heads
        self.to_qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.to_out = nn.Linear(d_model, d_model) if num_heads > 1 else nn.Identity()

    def forward(self, x, cache=None):
        q, k, v = (y.unflatten(-1, (self.h, -1)).transpose(1, 2) for y in self.to_qkv(x).chunk(3, -1))
        if cache is not None:
            k, v = (torch.cat(pair, dim=2) for pair in zip(cache, (k, v)))
        new, total = q.shape[2], k.shape[2]
        dots = q @ k.transpose(2, 3) * q.shape[-1] ** -0.5
        future = torch.ones(new, total, dtype=torch.bool).triu(total - new + 1)
        attn = dots.masked_fill(future, -torch.finfo(dots.dtype).max).softmax(dim=-1)
        return self.to_out((attn @ v).transpose(1, 2).flatten(2)), (k, v)
