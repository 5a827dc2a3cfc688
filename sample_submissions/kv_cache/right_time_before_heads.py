import torch
from torch import nn


class CachedAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        assert d_model % num_heads == 0
        self.h, self.d = num_heads, d_model // num_heads
        self.c_attn = nn.Linear(d_model, 3 * d_model, bias=False)
        self.c_proj = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, cache=None):
        # the cache is (B, T, 2, h, d)
        B, T, D = x.size()
        q, kv = self.c_attn(x).split([D, 2 * D], dim=2)
        kv = kv.view(B, T, 2, self.h, self.d)
        if cache is not None:
            kv = torch.cat([cache, kv], dim=1)
        k, v = kv.unbind(2)
        q = q.view(B, T, self.h, self.d)
        w = torch.einsum("bthd,bshd->bhts", q, k) / self.d ** 0.5
        past = kv.size(1) - T
        mask = torch.tril(torch.ones(kv.size(1), kv.size(1), dtype=torch.bool))[past:]
        w = torch.softmax(w.masked_fill(~mask, -1e9), dim=-1)
        return self.c_proj(torch.einsum("bhts,bshd->bthd", w, v).reshape(B, T, D)), kv
