import torch
from torch import nn


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
        q, k, v = self.query(q), self.key(k), self.value(v)
        wv, qk = self.qkv_attention(q, k, v, mask)
        return self.out(wv), qk.detach(), (k, v)

    def qkv_attention(self, q, k, v, mask):
        n_batch, n_ctx, n_state = q.shape
        scale = (n_state // self.num_heads) ** -0.25
        q = q.view(*q.shape[:2], self.num_heads, -1).permute(0, 2, 1, 3) * scale
        k = k.view(*k.shape[:2], self.num_heads, -1).permute(0, 2, 3, 1) * scale
        v = v.view(*v.shape[:2], self.num_heads, -1).permute(0, 2, 1, 3)
        qk = q @ k
        if mask is not None:
            qk = qk.masked_fill(~mask, torch.finfo(qk.dtype).min)
        w = torch.softmax(qk, dim=-1)
        return (w @ v).permute(0, 2, 1, 3).flatten(start_dim=2), qk
