import torch
from torch import nn


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


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))

    def forward(self, x):
        return self.net(x)


class TransformerBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, causal=True):
        super().__init__()
        self.causal = causal
        self.ln1 = nn.LayerNorm(d_model)
        self.attn = SelfAttention(d_model, num_heads)
        self.ln2 = nn.LayerNorm(d_model)
        self.mlp = FeedForward(d_model, d_ff)

    def forward(self, x, padding_mask=None):
        t = x.size(1)
        allowed = None
        if self.causal:
            allowed = torch.ones(t, t, dtype=torch.bool).tril()
        if padding_mask is not None:
            pad = padding_mask[:, None, None, :]
            allowed = pad if allowed is None else allowed & pad
        x = x + self.attn(self.ln1(x), allowed)
        return x + self.mlp(self.ln2(x))
