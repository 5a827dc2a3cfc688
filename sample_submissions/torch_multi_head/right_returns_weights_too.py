import torch
import torch.nn as nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        assert d_model % num_heads == 0
        self.h = num_heads
        self.to_q = nn.Linear(d_model, d_model, bias=False)
        self.to_kv = nn.Linear(d_model, 2 * d_model, bias=False)
        self.to_out = nn.Sequential(nn.Linear(d_model, d_model), nn.Dropout(0.0))

    def forward(self, q, k, v, mask=None):
        D = q.size(-1)
        wk, wv = self.to_kv.weight.split(D)
        q = self.to_q(q).unflatten(2, (self.h, D // self.h)).transpose(1, 2)
        k = (k @ wk.T).unflatten(2, (self.h, D // self.h)).transpose(1, 2)
        v = (v @ wv.T).unflatten(2, (self.h, D // self.h)).transpose(1, 2)
        dots = q @ k.transpose(-1, -2) * (D // self.h) ** -0.5
        if mask is not None:
            dots = dots.masked_fill(~mask, torch.finfo(dots.dtype).min)
        attn = dots.softmax(dim=-1)
        return self.to_out((attn @ v).transpose(1, 2).flatten(2)), attn
