import torch
from torch import nn


class TransformerBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, causal=True, dropout=0.1):
        super().__init__()
        d = d_model // num_heads
        self.causal, self.d = causal, d
        self.query = nn.ModuleList(nn.Linear(d_model, d) for _ in range(num_heads))
        self.key = nn.ModuleList(nn.Linear(d_model, d) for _ in range(num_heads))
        self.value = nn.ModuleList(nn.Linear(d_model, d) for _ in range(num_heads))
        self.out = nn.Linear(d_model, d_model)
        self.norms = nn.ModuleList(nn.LayerNorm(d_model) for _ in range(2))
        self.ff = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(approximate="tanh"), nn.Linear(d_ff, d_model), nn.Dropout(dropout))
        self.drop = nn.Dropout(dropout)

    def forward(self, x, padding_mask=None):
        y, t, heads = self.norms[0](x), x.size(1), []
        for wq, wk, wv in zip(self.query, self.key, self.value):
            s = wq(y) @ wk(y).transpose(1, 2) / self.d ** 0.5
            if padding_mask is not None:
                s = s.masked_fill(~padding_mask[:, None, :], -1e9)
            if self.causal:
                s = s.masked_fill(~torch.ones(t, t, dtype=torch.bool).tril(), -1e9)
            heads.append(self.drop(s.softmax(-1)) @ wv(y))
        x = x + self.drop(self.out(torch.cat(heads, dim=-1)))
        return x + self.ff(self.norms[1](x))
