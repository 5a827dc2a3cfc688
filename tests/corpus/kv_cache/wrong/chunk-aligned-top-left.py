import math

import torch
import torch.nn as nn


class CachedAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        assert d_model % num_heads == 0
        self.n_heads, self.head_dim = num_heads, d_model // num_heads
        self.wq = nn.Linear(d_model, d_model, bias=False)
        self.wk = nn.Linear(d_model, d_model, bias=False)
        self.wv = nn.Linear(d_model, d_model, bias=False)
        self.wo = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, cache=None):
        bsz, seqlen, dim = x.shape
        xq, xk, xv = (w(x).view(bsz, seqlen, self.n_heads, self.head_dim).transpose(1, 2)
                      for w in (self.wq, self.wk, self.wv))
        if cache is not None:
            xk = torch.cat([cache["k"], xk], dim=2)
            xv = torch.cat([cache["v"], xv], dim=2)
        scores = xq @ xk.transpose(2, 3) / math.sqrt(self.head_dim)
        if seqlen > 1:
            mask = torch.ones(seqlen, xk.size(2), dtype=torch.bool).tril()
            scores = scores.masked_fill(~mask, float("-inf"))
        output = (scores.softmax(-1) @ xv).transpose(1, 2).reshape(bsz, seqlen, dim)
        return self.wo(output), {"k": xk, "v": xv}
