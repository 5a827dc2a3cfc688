import torch
import torch.nn as nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        assert d_model % num_heads == 0
        self.num_heads = num_heads
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.out = nn.Linear(d_model, d_model)

    def forward(self, q, k, v, mask=None):
        # the names are the other way round than usual: "key" looks for "query"
        B, T, D = q.shape
        asks = self.key(q).reshape(B, T, self.num_heads, -1).transpose(1, 2)
        answers = self.query(k).reshape(B, k.size(1), self.num_heads, -1).transpose(1, 2)
        values = self.value(v).reshape(B, v.size(1), self.num_heads, -1).transpose(1, 2)
        s = asks @ answers.transpose(-1, -2) / asks.size(-1) ** 0.5
        if mask is not None:
            s = s.masked_fill(~mask, torch.finfo(s.dtype).min)
        return self.out((s.softmax(-1) @ values).transpose(1, 2).reshape(B, T, D))
