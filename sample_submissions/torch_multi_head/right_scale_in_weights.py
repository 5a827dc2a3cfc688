import torch
import torch.nn.functional as F
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        assert d_model % num_heads == 0
        self.h = num_heads
        self.scale = (d_model // num_heads) ** -0.5
        self.query, self.key, self.value, self.out = (nn.Linear(d_model, d_model) for _ in range(4))

    def heads(self, y):
        return y.unflatten(-1, (self.h, -1)).transpose(1, 2)

    def forward(self, q, k, v, mask=None):
        # 1/sqrt(d) goes into the query projection: D*D products instead of T*T
        Q = self.heads(F.linear(q, self.query.weight * self.scale, self.query.bias * self.scale))
        K, V = self.heads(self.key(k)), self.heads(self.value(v))
        logits = Q @ K.transpose(2, 3)
        if mask is not None:
            logits = logits.masked_fill(~mask, torch.finfo(logits.dtype).min)
        return self.out((logits.softmax(-1) @ V).transpose(1, 2).flatten(2))
