import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    """Tensors are (time, batch, features), masks (time of q, time of k, batch)."""

    def __init__(self, heads: int, d_model: int, bias: bool = True):
        super().__init__()
        self.heads, self.d_k = heads, d_model // heads
        self.query = nn.Linear(d_model, d_model, bias=bias)
        self.key = nn.Linear(d_model, d_model, bias=bias)
        self.value = nn.Linear(d_model, d_model, bias=True)
        self.output = nn.Linear(d_model, d_model)

    def forward(self, *, query, key, value, mask=None):
        tq, batch, _ = query.shape
        query = self.query(query).view(tq, batch, self.heads, self.d_k)
        key = self.key(key).view(-1, batch, self.heads, self.d_k)
        value = self.value(value).view(-1, batch, self.heads, self.d_k)
        scores = torch.einsum("ibhd,jbhd->ijbh", query, key) / math.sqrt(self.d_k)
        if mask is not None:
            assert mask.shape == (tq, key.shape[0], batch)
            scores = scores.masked_fill(mask.unsqueeze(-1) == 0, -1e9)
        attn = scores.softmax(dim=1)
        x = torch.einsum("ijbh,jbhd->ibhd", attn, value)
        return self.output(x.reshape(tq, batch, -1))
