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
        self.Wq = nn.Linear(d_model, d_model)
        self.Wk = nn.Linear(d_model, d_model)
        self.Wv = nn.Linear(d_model, d_model)
        self.Wo = nn.Linear(d_model, d_model)

    def forward(self, q, k, v, mask=None):
        B = q.size(0)
        Q = self.Wq(q)
        K = self.Wk(k)
        V = self.Wv(v)
        Q = Q.reshape(B, -1, self.num_heads, self.d_head).transpose(1, 2)
        K = K.reshape(B, -1, self.num_heads, self.d_head).transpose(1, 2)
        V = V.reshape(B, -1, self.num_heads, self.d_head).transpose(1, 2)
        scores = Q @ K.transpose(-2, -1) / math.sqrt(self.d_head)
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        out = weights @ V
        out = out.transpose(1, 2).reshape(B, -1, self.num_heads * self.d_head)
        return self.Wo(out)
