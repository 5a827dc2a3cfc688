import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("no")
        self.num_heads = num_heads
        self.W_q = nn.LazyLinear(d_model, bias=False)
        self.W_k = nn.LazyLinear(d_model, bias=False)
        self.W_v = nn.LazyLinear(d_model, bias=False)
        self.W_o = nn.LazyLinear(d_model, bias=False)

    def forward(self, queries, keys, values, mask=None):
        Q, K, V = self.t(self.W_q(queries)), self.t(self.W_k(keys)), self.t(self.W_v(values))
        scores = Q @ K.transpose(2, 3) / Q.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        out = scores.softmax(-1) @ V
        return self.W_o(out.permute(0, 2, 1, 3).reshape(queries.shape))

    def t(self, X):
        return X.reshape(X.shape[0], X.shape[1], self.num_heads, -1).permute(0, 2, 1, 3)
