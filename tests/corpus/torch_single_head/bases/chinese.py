# 手写注意力
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class OneHeadAttention(nn.Module):
    def __init__(self, emb_size, qk_size, v_size):
        super().__init__()
        self.d_head = qk_size
        self.to_q = nn.Linear(emb_size, qk_size)
        self.to_k = nn.Linear(emb_size, qk_size)
        self.to_v = nn.Linear(emb_size, v_size)

    def forward(self, x_q, x_kv, mask=None):
        queries_ = self.to_q(x_q)
        keys_ = self.to_k(x_kv)
        values_ = self.to_v(x_kv)
        att = queries_ @ keys_.transpose(-2, -1) / math.sqrt(self.d_head)
        if mask is not None:
            att = att.masked_fill(mask, torch.finfo(att.dtype).min)
        p_attn = torch.softmax(att, dim=-1)
        out = p_attn @ values_
        return out
