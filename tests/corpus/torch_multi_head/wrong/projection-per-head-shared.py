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
        self.q_proj = nn.Linear(self.d_head, self.d_head, bias=False)
        self.k_proj = nn.Linear(self.d_head, self.d_head, bias=False)
        self.v_proj = nn.Linear(self.d_head, self.d_head, bias=False)
        self.out_proj = nn.Linear(d_model, d_model)

    def forward(self, q, k, v, mask=None):
        B = q.size(0)
        qh = q.reshape(B, -1, self.num_heads, self.d_head)
        kh = k.reshape(B, -1, self.num_heads, self.d_head)
        vh = v.reshape(B, -1, self.num_heads, self.d_head)
        qh, kh, vh = self.q_proj(qh), self.k_proj(kh), self.v_proj(vh)
        qh, kh, vh = qh.transpose(1, 2), kh.transpose(1, 2), vh.transpose(1, 2)
        logits = qh @ kh.transpose(-2, -1) / math.sqrt(self.d_head)
        if mask is not None:
            logits = logits.masked_fill(~mask, torch.finfo(logits.dtype).min)
        probs = torch.softmax(logits, dim=-1)
        out = probs @ vh
        out = out.transpose(1, 2).reshape(B, -1, self.num_heads * self.d_head)
        return self.out_proj(out)
