# attention, written by hand
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class TransformerBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, causal=True):
        super().__init__()
        assert d_model % num_heads == 0
        self.num_heads = num_heads
        self.d_head = d_model // num_heads
        self.causal = causal
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model)
        self.up = nn.Linear(d_model, d_ff)
        self.down = nn.Linear(d_ff, d_model)

    def attend(self, x, padding_mask):
        B, T, D = x.shape
        qh = self.q_proj(x)
        kh = self.k_proj(x)
        vh = self.v_proj(x)
        qh = qh.reshape(B, -1, self.num_heads, self.d_head).transpose(1, 2)
        kh = kh.reshape(B, -1, self.num_heads, self.d_head).transpose(1, 2)
        vh = vh.reshape(B, -1, self.num_heads, self.d_head).transpose(1, 2)
        logits = qh @ kh.transpose(-2, -1) / math.sqrt(self.d_head)
        if self.causal:
            allowed = torch.ones(T, T, dtype=torch.bool).tril()
            logits = logits.masked_fill(~allowed, -1e30)
        if padding_mask is not None:
            logits = logits.masked_fill(~padding_mask[:, None, None, :], -1e30)
        probs = torch.softmax(logits, dim=-1)
        out = probs @ vh
        out = out.transpose(1, 2).reshape(B, -1, self.num_heads * self.d_head)
        return self.out_proj(out)

    def feed_forward(self, x):
        return self.down(F.gelu(self.up(x)))

    def forward(self, x, padding_mask=None):
        x = x + self.attend(self.norm1(x), padding_mask)
        x = x + self.feed_forward(self.norm2(x))
        return x
