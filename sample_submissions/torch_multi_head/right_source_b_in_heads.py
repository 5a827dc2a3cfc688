# The second document's class, turned into several heads as its follow-up question asks.
import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super(MultiHeadAttention, self).__init__()
        assert d_model % num_heads == 0
        self.num_heads = num_heads
        self.head_dim = d_model // num_heads
        self.Wq = nn.Linear(d_model, num_heads * self.head_dim)
        self.Wk = nn.Linear(d_model, num_heads * self.head_dim)
        self.Wv = nn.Linear(d_model, num_heads * self.head_dim)
        self.Wo = nn.Linear(d_model, d_model)
        self.softmax = nn.Softmax(dim=-1)

    def forward(self, q, k, v, mask=None):
        batch = q.size(0)
        Q = self.Wq(q).view(batch, -1, self.num_heads, self.head_dim).transpose(1, 2)
        K = self.Wk(k).view(batch, -1, self.num_heads, self.head_dim).transpose(1, 2)
        V = self.Wv(v).view(batch, -1, self.num_heads, self.head_dim).transpose(1, 2)
        scores = torch.matmul(Q, K.transpose(2, 3)) / math.sqrt(self.head_dim)
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        output = torch.matmul(self.softmax(scores), V)
        output = output.transpose(1, 2).contiguous().view(batch, -1, self.num_heads * self.head_dim)
        return self.Wo(output)
