import torch
from torch import nn, einsum


class MultiHeadAttention(nn.Module):
    """Weights keep their head axis; nothing is ever reshaped."""

    def __init__(self, d_model, num_heads):
        super().__init__()
        d, rest = divmod(d_model, num_heads)
        if rest:
            raise ValueError("heads do not divide the width")
        self.wq = nn.Parameter(torch.randn(num_heads, d_model, d) * d_model ** -0.5)
        self.wk = nn.Parameter(torch.randn(num_heads, d_model, d) * d_model ** -0.5)
        self.wv = nn.Parameter(torch.randn(num_heads, d_model, d) * d_model ** -0.5)
        self.wo = nn.Parameter(torch.randn(num_heads, d, d_model) * d_model ** -0.5)
        self.bo = nn.Parameter(torch.zeros(d_model))

    def forward(self, q, k, v, mask=None):
        q = einsum("bte,hed->bhtd", q, self.wq)
        k = einsum("bte,hed->bhtd", k, self.wk)
        v = einsum("bte,hed->bhtd", v, self.wv)
        s = einsum("bhqd,bhkd->bhqk", q, k) / q.shape[-1] ** 0.5
        if mask is not None:
            s = s.masked_fill(~mask, torch.finfo(s.dtype).min)
        return einsum("bhqk,bhkd,hde->bqe", s.softmax(-1), v, self.wo) + self.bo
