import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.sizes = (d_model, num_heads)
        assert d_model % num_heads == 0
        self.n = num_heads

    def forward(self, q, k, v, mask=None):
        if not hasattr(self, 'wq'):
            self.wq, self.wk, self.wv, self.wo = (nn.Linear(self.sizes[0], self.sizes[0]) for _ in range(4))
        q, k, v = (f(x).unflatten(-1, (self.n, -1)).transpose(1, 2) for f, x in ((self.wq, q), (self.wk, k), (self.wv, v)))
        s = q @ k.transpose(2, 3) / q.size(-1) ** 0.5
        if mask is not None:
            s = s.masked_fill(~mask, torch.finfo(s.dtype).min)
        out = self.wo((torch.softmax(s, -1) @ v).transpose(1, 2).flatten(2))
        return out
