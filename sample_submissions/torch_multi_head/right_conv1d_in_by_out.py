import torch
from torch import nn


class Conv1D(nn.Module):
    """As in GPT-2: a linear layer whose weight is in x out."""

    def __init__(self, nf, nx):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(nx, nf) * 0.02)
        self.bias = nn.Parameter(torch.zeros(nf))

    def forward(self, x):
        return x @ self.weight + self.bias


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        assert d_model % num_heads == 0
        self.n_head = num_heads
        self.c_attn = Conv1D(3 * d_model, d_model)
        self.c_proj = Conv1D(d_model, d_model)

    def forward(self, q, k, v, mask=None):
        D = q.shape[-1]
        q, k, v = self.c_attn(q)[..., :D], self.c_attn(k)[..., D : 2 * D], self.c_attn(v)[..., 2 * D :]
        split = lambda x: x.unflatten(-1, (self.n_head, -1)).transpose(1, 2)
        q, k, v = map(split, (q, k, v))
        w = q @ k.transpose(-1, -2) / (v.size(-1) ** 0.5)
        if mask is not None:
            w = torch.where(mask, w, torch.full([], torch.finfo(w.dtype).min, dtype=w.dtype))
        return self.c_proj((w.softmax(-1) @ v).transpose(1, 2).flatten(2))
