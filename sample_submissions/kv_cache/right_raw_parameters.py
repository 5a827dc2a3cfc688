import torch
from torch import nn


class CachedAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        assert d_model % num_heads == 0
        self.h, self.d = num_heads, d_model // num_heads
        self.W = nn.Parameter(torch.randn(4, d_model, d_model) * d_model ** -0.5)

    def forward(self, x, cache=None):
        wq, wk, wv, wo = self.W
        b, t, _ = x.shape
        heads = lambda w: (x @ w).view(b, t, self.h, self.d).transpose(1, 2)
        k, v = heads(wk), heads(wv)
        n = 0
        if cache is not None:
            n = cache[0].shape[2]
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
        s = heads(wq) @ k.transpose(2, 3) * self.d ** -0.5
        mask = torch.full((t, n + t), float("-inf"), dtype=s.dtype).triu(n + 1)
        return ((s + mask).softmax(-1) @ v).transpose(1, 2).reshape(x.shape) @ wo, [k, v]
