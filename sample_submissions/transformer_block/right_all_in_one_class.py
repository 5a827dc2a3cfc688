import torch
import torch.nn as nn
import torch.nn.functional as F


class TransformerBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, causal=True):
        super().__init__()
        self.n, self.causal = num_heads, causal
        self.norm_a = nn.LayerNorm(d_model)
        self.norm_f = nn.LayerNorm(d_model)
        self.qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.proj = nn.Linear(d_model, d_model, bias=False)
        self.fc1 = nn.Linear(d_model, d_ff, bias=False)
        self.fc2 = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x, padding_mask=None):
        b, t, d = x.shape
        y = self.norm_a(x)
        q, k, v = self.qkv(y).view(b, t, 3, self.n, d // self.n).permute(2, 0, 3, 1, 4)
        s = torch.einsum("bhid,bhjd->bhij", q, k) * (d // self.n) ** -0.5
        if self.causal:
            s = s.masked_fill(torch.ones(t, t).triu(1).bool(), -1e9)
        if padding_mask is not None:
            s = s.masked_fill(padding_mask.logical_not()[:, None, None, :], -1e9)
        y = torch.einsum("bhij,bhjd->bihd", s.softmax(-1), v).reshape(b, t, d)
        x = x + self.proj(y)
        return x + self.fc2(F.gelu(self.fc1(self.norm_f(x))))
