import torch
from torch import nn


class OneHeadAttention(nn.Module):
    def __init__(self, emb_size, qk_size, v_size):
        super().__init__()
        self.W_Q = nn.Parameter(torch.randn(emb_size, qk_size) * 0.1)
        self.W_K = nn.Parameter(torch.randn(emb_size, qk_size) * 0.1)
        self.W_V = nn.Parameter(torch.randn(emb_size, v_size) * 0.1)

    def forward(self, x_q, x_kv, mask=None):
        Q, K, V = x_q @ self.W_Q, x_kv @ self.W_K, x_kv @ self.W_V
        S = Q @ K.transpose(1, 2) / Q.shape[-1] ** 0.5
        if mask is not None:
            S = S.masked_fill(mask, torch.finfo(S.dtype).min)
        E = torch.exp(S - S.max(dim=-1, keepdim=True).values)
        return (E / E.sum(-1, keepdim=True)) @ V
