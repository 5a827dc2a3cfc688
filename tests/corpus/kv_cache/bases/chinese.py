# 手写注意力
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class CachedAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        assert d_model % num_heads == 0
        self.num_heads = num_heads
        self.d_head = d_model // num_heads
        self.to_q = nn.Linear(d_model, d_model)
        self.to_k = nn.Linear(d_model, d_model)
        self.to_v = nn.Linear(d_model, d_model)
        self.to_out = nn.Linear(d_model, d_model)

    def forward(self, x, cache=None):
        B, T, D = x.shape
        queries_ = self.to_q(x)
        keys_ = self.to_k(x)
        values_ = self.to_v(x)
        queries_ = queries_.reshape(B, -1, self.num_heads, self.d_head).transpose(1, 2)
        keys_ = keys_.reshape(B, -1, self.num_heads, self.d_head).transpose(1, 2)
        values_ = values_.reshape(B, -1, self.num_heads, self.d_head).transpose(1, 2)
        if cache is not None:
            keys_ = torch.cat([cache[0], keys_], dim=2)
            values_ = torch.cat([cache[1], values_], dim=2)
        cache = (keys_, values_)
        att = queries_ @ keys_.transpose(-2, -1) / math.sqrt(self.d_head)
        mask = torch.ones(T, keys_.size(2), dtype=torch.bool).tril(keys_.size(2) - T)
        att = att.masked_fill(~mask, float('-inf'))
        p_attn = torch.softmax(att, dim=-1)
        out = p_attn @ values_
        out = out.transpose(1, 2).reshape(B, -1, self.num_heads * self.d_head)
        return self.to_out(out), cache
