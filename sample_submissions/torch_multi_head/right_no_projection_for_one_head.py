import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    """With a single head the last projection could be merged into V's, so it is left out."""

    def __init__(self, d_model, num_heads):
        super().__init__()
        assert d_model % num_heads == 0
        self.heads = num_heads
        self.to_q = nn.Linear(d_model, d_model, bias=False)
        self.to_k = nn.Linear(d_model, d_model, bias=False)
        self.to_v = nn.Linear(d_model, d_model, bias=False)
        self.to_out = nn.Linear(d_model, d_model) if num_heads > 1 else nn.Identity()

    def forward(self, q, k, v, mask=None):
        q, k, v = (f(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for f, x in ((self.to_q, q), (self.to_k, k), (self.to_v, v)))
        dots = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
        if mask is not None:
            dots = dots.masked_fill(~mask, -torch.finfo(dots.dtype).max)
        return self.to_out((dots.softmax(dim=-1) @ v).transpose(1, 2).flatten(2))
