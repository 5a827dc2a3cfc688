"""My solution."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class OneHeadAttention(nn.Module):
    def __init__(self, emb_size, qk_size, v_size):
        super().__init__()
        self.d_head = qk_size
        self.queries = nn.Linear(emb_size, qk_size)
        self.keys = nn.Linear(emb_size, qk_size)
        self.values = nn.Linear(emb_size, v_size)

    def forward(self, x_q, x_kv, mask=None):
        Q = self.queries(x_q)
        K = self.keys(x_kv)
        V = self.values(x_kv)
        energy = Q @ K.transpose(-2, -1) / math.sqrt(self.d_head)
        if mask is not None:
            energy = energy.masked_fill(mask, torch.finfo(energy.dtype).min)
        attention = torch.softmax(energy, dim=-1)
        out = attention @ V
        return out
