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
        self.d_model = d_model

    def forward(self, q, k, v, mask=None):
        B = q.size(0)
        queries_ = nn.Linear(self.d_model, self.d_model)(q)
        keys_ = nn.Linear(self.d_model, self.d_model)(k)
        values_ = nn.Linear(self.d_model, self.d_model)(v)
        queries_ = queries_.reshape(B, -1, self.num_heads, self.d_head).transpose(1, 2)
        keys_ = keys_.reshape(B, -1, self.num_heads, self.d_head).transpose(1, 2)
        values_ = values_.reshape(B, -1, self.num_heads, self.d_head).transpose(1, 2)
        att = queries_ @ keys_.transpose(-2, -1) / math.sqrt(self.d_head)
        if mask is not None:
            att = att.masked_fill(~mask, torch.finfo(att.dtype).min)
        p_attn = torch.softmax(att, dim=-1)
        out = p_attn @ values_
        out = out.transpose(1, 2).reshape(B, -1, self.num_heads * self.d_head)
        return nn.Linear(self.d_model, self.d_model)(out)
