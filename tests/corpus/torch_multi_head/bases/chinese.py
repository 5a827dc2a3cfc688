# 手写注意力
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
        self.to_q = nn.Linear(d_model, d_model)
        self.to_k = nn.Linear(d_model, d_model)
        self.to_v = nn.Linear(d_model, d_model)
        self.to_out = nn.Linear(d_model, d_model)

    def forward(self, q, k, v, mask=None):
        B = q.size(0)
        queries_ = self.to_q(q)
        keys_ = self.to_k(k)
        values_ = self.to_v(v)
        queries_ = queries_.reshape(B, -1, self.num_heads, self.d_head).transpose(1, 2)
        keys_ = keys_.reshape(B, -1, self.num_heads, self.d_head).transpose(1, 2)
        values_ = values_.reshape(B, -1, self.num_heads, self.d_head).transpose(1, 2)
        att = queries_ @ keys_.transpose(-2, -1) / math.sqrt(self.d_head)
        if mask is not None:
            att = att.masked_fill(~mask, torch.finfo(att.dtype).min)
        p_attn = torch.softmax(att, dim=-1)
        out = p_attn @ values_
        out = out.transpose(1, 2).reshape(B, -1, self.num_heads * self.d_head)
        return self.to_out(out)
