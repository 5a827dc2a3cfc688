import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        assert d_model % num_heads == 0
        self.num_heads = num_heads
        self.W_Q = nn.Parameter(torch.randn(d_model, d_model) / d_model ** 0.5)
        self.W_K = nn.Parameter(torch.randn(d_model, d_model) / d_model ** 0.5)
        self.W_V = nn.Parameter(torch.randn(d_model, d_model) / d_model ** 0.5)
        self.W_O = nn.Parameter(torch.randn(d_model, d_model) / d_model ** 0.5)
        self.b_Q = nn.Parameter(torch.zeros(d_model))
        self.b_K = nn.Parameter(torch.zeros(d_model))
        self.b_V = nn.Parameter(torch.zeros(d_model))
        self.b_O = nn.Parameter(torch.zeros(d_model))

    def forward(self, q, k, v, mask=None):
        Q, K, V = q @ self.W_Q + self.b_Q, k @ self.W_K + self.b_K, v @ self.W_V + self.b_V
        B, h = q.shape[0], self.num_heads
        Q, K, V = (x.reshape(B, x.shape[1], h, -1).swapaxes(1, 2) for x in (Q, K, V))
        S = Q @ K.swapaxes(2, 3) / Q.shape[-1] ** 0.5
        if mask is not None:
            S = S.masked_fill(~mask, torch.finfo(S.dtype).min)
        S = S - S.amax(-1, keepdim=True)
        P = S.exp()
        P = P / P.sum(-1, keepdim=True)
        return (P @ V).swapaxes(1, 2).reshape(q.shape) @ self.W_O + self.b_O
