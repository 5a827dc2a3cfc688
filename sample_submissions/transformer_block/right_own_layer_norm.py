import torch
from torch import nn
import torch.nn.functional as F


class SelfAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.h = num_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)

    def forward(self, x, allowed):
        b, t, d = x.shape
        q, k, v = (f(x).view(b, t, self.h, d // self.h).transpose(1, 2) for f in (self.q_proj, self.k_proj, self.v_proj))
        s = q @ k.transpose(-1, -2) / (d // self.h) ** 0.5
        if allowed is not None:
            s = s.masked_fill(~allowed, torch.finfo(s.dtype).min)
        return self.o_proj((s.softmax(-1) @ v).transpose(1, 2).reshape(b, t, d))


class LayerNorm(nn.Module):
    def __init__(self, features, eps=1e-5):
        super().__init__()
        self.a_2 = nn.Parameter(torch.ones(features))
        self.b_2 = nn.Parameter(torch.zeros(features))
        self.eps = eps

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        var = ((x - mean) ** 2).mean(-1, keepdim=True)
        return self.a_2 * (x - mean) * torch.rsqrt(var + self.eps) + self.b_2


class SublayerConnection(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.norm = LayerNorm(size)

    def forward(self, x, sublayer):
        return x + sublayer(self.norm(x))


class TransformerBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, causal=True):
        super().__init__()
        self.causal = causal
        self.self_attn = SelfAttention(d_model, num_heads)
        self.w_1, self.w_2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.sublayer = nn.ModuleList([SublayerConnection(d_model) for _ in range(2)])

    def forward(self, x, padding_mask=None):
        B, T, _ = x.shape
        allowed = torch.ones(B, 1, T, T, dtype=torch.bool)
        if self.causal:
            allowed = torch.tril(allowed)
        if padding_mask is not None:
            allowed = allowed & padding_mask.view(B, 1, 1, T)
        x = self.sublayer[0](x, lambda y: self.self_attn(y, allowed))
        return self.sublayer[1](x, lambda y: self.w_2(F.gelu(self.w_1(y))))
