import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    """qkv is one Linear whose rows are [q|k|v] for head 0, then for head 1, ..."""

    def __init__(self, d_model, num_heads):
        super().__init__()
        assert d_model % num_heads == 0
        self.num_heads = num_heads
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.proj = nn.Linear(d_model, d_model)

    def part(self, x, which):
        b, t, d = x.shape
        all_three = self.qkv(x).reshape(b, t, self.num_heads, 3, d // self.num_heads)
        return all_three[:, :, :, which].permute(0, 2, 1, 3)

    def forward(self, q, k, v, mask=None):
        query, key, value = self.part(q, 0), self.part(k, 1), self.part(v, 2)
        att = query @ key.transpose(-1, -2) * key.shape[-1] ** -0.5
        if mask is not None:
            att = att.masked_fill(mask.logical_not(), torch.finfo(att.dtype).min)
        att = att.softmax(dim=-1)
        y = (att @ value).permute(0, 2, 1, 3).reshape(q.shape)
        return self.proj(y)
