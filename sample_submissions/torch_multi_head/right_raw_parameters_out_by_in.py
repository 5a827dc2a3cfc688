import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        assert not d_model % num_heads
        self.num_heads = num_heads
        for name in ("alpha", "beta", "gamma", "delta"):
            setattr(self, name, nn.Parameter(torch.empty(d_model, d_model).normal_(std=0.02)))

    def forward(self, q, k, v, mask=None):
        def heads(x, w):
            y = x @ w.t()
            return y.view(y.shape[0], y.shape[1], self.num_heads, -1).transpose(1, 2)

        a, b, c = heads(q, self.alpha), heads(k, self.beta), heads(v, self.gamma)
        s = torch.einsum("bhqd,bhkd->bhqk", a, b) * a.shape[-1] ** -0.5
        if mask is not None:
            s = s + torch.zeros_like(s).masked_fill_(~mask, torch.finfo(s.dtype).min / 4)
        o = torch.einsum("bhqk,bhkd->bqhd", torch.softmax(s, -1), c)
        return o.flatten(2) @ self.delta.t()
