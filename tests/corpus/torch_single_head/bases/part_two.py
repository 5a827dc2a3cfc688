# take-home, part 2
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class OneHeadAttention(nn.Module):
    def __init__(self, emb_size, qk_size, v_size):
        super().__init__()
        self.d_head = qk_size
        self.w_qs = nn.Linear(emb_size, qk_size)
        self.w_ks = nn.Linear(emb_size, qk_size)
        self.w_vs = nn.Linear(emb_size, v_size)

    def forward(self, x_q, x_kv, mask=None):
        Q = self.w_qs(x_q)
        K = self.w_ks(x_kv)
        V = self.w_vs(x_kv)
        sim = Q @ K.transpose(-2, -1) / math.sqrt(self.d_head)
        if mask is not None:
            sim = sim.masked_fill(mask, torch.finfo(sim.dtype).min)
        alpha = torch.softmax(sim, dim=-1)
        out = alpha @ V
        return out
