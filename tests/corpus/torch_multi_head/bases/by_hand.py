# attention, written by hand
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        assert d_model % num_heads == 0
        self.num_heads = num_heads
        self.d_head = d_model // num_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model)

    def forward(self, q, k, v, mask=None):
        B = q.size(0)
        qh = self.q_proj(q)
        kh = self.k_proj(k)
        vh = self.v_proj(v)
        qh = qh.reshape(B, -1, self.num_heads, self.d_head).transpose(1, 2)
        kh = kh.reshape(B, -1, self.num_heads, self.d_head).transpose(1, 2)
        vh = vh.reshape(B, -1, self.num_heads, self.d_head).transpose(1, 2)
        logits = qh @ kh.transpose(-2, -1) / math.sqrt(self.d_head)
        if mask is not None:
            logits = logits.masked_fill(~mask, torch.finfo(logits.dtype).min)
        probs = torch.softmax(logits, dim=-1)
        out = probs @ vh
        out = out.transpose(1, 2).reshape(B, -1, self.num_heads * self.d_head)
        return self.out_proj(out)
