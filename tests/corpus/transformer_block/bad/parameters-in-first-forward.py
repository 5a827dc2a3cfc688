import torch
from torch import nn


class TransformerBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, causal=True):
        super().__init__()
        self.sizes = (d_model, num_heads, d_ff, causal)
        assert d_model % num_heads == 0
        self.n, self.causal = num_heads, causal

    def forward(self, x, padding_mask=None):
        if not hasattr(self, 'wq'):
            self.wq, self.wk, self.wv, self.wo = (nn.Linear(self.sizes[0], self.sizes[0]) for _ in range(4))
            self.norm1, self.norm2 = nn.LayerNorm(self.sizes[0]), nn.LayerNorm(self.sizes[0])
            self.up, self.down = nn.Linear(self.sizes[0], self.sizes[2]), nn.Linear(self.sizes[2], self.sizes[0])
        y = self.norm1(x)
        q, k, v = (f(y).unflatten(-1, (self.n, -1)).transpose(1, 2) for f in (self.wq, self.wk, self.wv))
        s = q @ k.transpose(2, 3) / q.size(-1) ** 0.5
        if self.causal:
            s = s.masked_fill(~torch.ones(s.shape[-2:], dtype=torch.bool).tril(), -1e30)
        if padding_mask is not None:
            s = s.masked_fill(~padding_mask[:, None, None], -1e30)
        x = x + self.wo((torch.softmax(s, -1) @ v).transpose(1, 2).flatten(2))
        out = x + self.down(torch.nn.functional.gelu(self.up(self.norm2(x))))
        return out
