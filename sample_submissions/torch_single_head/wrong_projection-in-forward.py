# 手写注意力
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class OneHeadAttention(nn.Module):
    def __init__(self, emb_size, qk_size, v_size):
        super().__init__()
        self.d_head = qk_size
        self.sizes = (emb_size, qk_size, v_size)

    def forward(self, x_q, x_kv, mask=None):
        emb, qk, vs = self.sizes
        queries_ = nn.Linear(emb, qk)(x_q)
        keys_ = nn.Linear(emb, qk)(x_kv)
        values_ = nn.Linear(emb, vs)(x_kv)
        att = queries_ @ keys_.transpose(-2, -1) / math.sqrt(self.d_head)
        if mask is not None:
            att = att.masked_fill(mask, torch.finfo(att.dtype).min)
        p_attn = torch.softmax(att, dim=-1)
        out = p_attn @ values_
        return out
