import torch
from torch import nn


class TransformerBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, causal=True):
        super().__init__()
        p = lambda *shape: nn.Parameter(torch.randn(*shape) * 0.05)
        self.heads, self.causal = num_heads, causal
        self.wq, self.wk, self.wv, self.wo = (p(d_model, d_model) for _ in range(4))
        self.w1, self.b1 = p(d_model, d_ff), p(d_ff)
        self.w2, self.b2 = p(d_ff, d_model), p(d_model)
        self.g1, self.s1 = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))
        self.g2, self.s2 = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))

    @staticmethod
    def norm(x, gain, shift):
        x = x - x.mean(-1, keepdim=True)
        return x / (x.pow(2).mean(-1, keepdim=True) + 1e-5).sqrt() * gain + shift

    def attention(self, x, padding_mask):
        b, t, d = x.shape
        q, k, v = ((x @ w).reshape(b, t, self.heads, -1).transpose(1, 2) for w in (self.wq, self.wk, self.wv))
        scores = q @ k.mT / (d / self.heads) ** 0.5
        keep = torch.ones(b, 1, t, t, dtype=torch.bool)
        if self.causal:
            keep = keep & torch.ones(t, t, dtype=torch.bool).tril()
        if padding_mask is not None:
            keep = keep & padding_mask[:, None, None, :]
        weights = torch.where(keep, scores, torch.tensor(-1e9, dtype=scores.dtype)).softmax(-1)
        return (weights @ v).transpose(1, 2).reshape(b, t, d) @ self.wo

    def forward(self, x, padding_mask=None):
        x = x + self.attention(self.norm(x, self.g1, self.s1), padding_mask)
        h = self.norm(x, self.g2, self.s2) @ self.w1 + self.b1
        h = h * 0.5 * (1 + torch.erf(h / 2 ** 0.5))
        return x + h @ self.w2 + self.b2
