import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class OneHeadAttention(nn.Module):
    def __init__(self, emb_size, qk_size, v_size):
        super().__init__()
        self.d_head = qk_size
        self.Wq = nn.Linear(emb_size, qk_size)
        self.Wk = nn.Linear(emb_size, qk_size)
        self.Wv = nn.Linear(emb_size, v_size)

    def forward(self, x_q, x_kv, mask=None):
        Q = self.Wq(x_q)
        K = self.Wk(x_kv)
        V = self.Wv(x_kv)
        scores = Q @ K.transpose(-2, -1) / math.sqrt(self.d_head)
        if mask is not None:
            scores = scores.masked_fill(mask, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        out = weights @ V
        return out
