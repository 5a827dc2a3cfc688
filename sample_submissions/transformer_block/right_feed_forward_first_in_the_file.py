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


class TransformerBlock(nn.Module):
    """Modules are made in another order than they are used in."""

    def __init__(self, d_model, num_heads, d_ff, causal=True):
        super().__init__()
        self.ffn = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.ffn_norm = nn.LayerNorm(d_model)
        self.attention_norm = nn.LayerNorm(d_model)
        self.attention = SelfAttention(d_model, num_heads)
        self.causal = causal

    def mask(self, x, padding_mask):
        n = x.shape[1]
        keep = torch.ones(1, 1, n, n, dtype=torch.bool)
        keep = keep.tril() if self.causal else keep
        return keep if padding_mask is None else keep & padding_mask.unsqueeze(1).unsqueeze(2)

    def forward(self, x, padding_mask=None):
        x = x + self.attention(self.attention_norm(x), self.mask(x, padding_mask))
        x = x + self.ffn(self.ffn_norm(x))
        return x
