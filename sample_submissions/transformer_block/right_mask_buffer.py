import torch
import torch.nn as nn


class Attention(nn.Module):
    def __init__(self, nx, n_head, n_ctx, causal):
        super().__init__()
        assert nx % n_head == 0
        self.n_head, self.causal = n_head, causal
        self.register_buffer("tril", torch.tril(torch.ones(n_ctx, n_ctx)))
        self.key = nn.Linear(nx, nx, bias=False)
        self.query = nn.Linear(nx, nx, bias=False)
        self.value = nn.Linear(nx, nx, bias=False)
        self.proj = nn.Linear(nx, nx)

    def forward(self, x, padding_mask):
        B, T, C = x.shape
        k, q, v = (f(x).view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
                   for f in (self.key, self.query, self.value))
        wei = q @ k.transpose(-2, -1)
        if self.causal:
            wei = wei.masked_fill(self.tril[:T, :T] == 0, -1e20)
        if padding_mask is not None:
            wei = wei.masked_fill(~padding_mask.view(B, 1, 1, T), -1e20)
        wei = torch.softmax(wei * k.shape[-1] ** -0.5, dim=-1)
        return self.proj((wei @ v).transpose(1, 2).reshape(B, T, C))


class TransformerBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, causal=True, block_size=256):
        super().__init__()
        self.sa = Attention(d_model, num_heads, block_size, causal)
        self.ffwd = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
        self.ln1 = nn.LayerNorm(d_model)
        self.ln2 = nn.LayerNorm(d_model)

    def forward(self, x, padding_mask=None):
        x = x + self.sa(self.ln1(x), padding_mask)
        x = x + self.ffwd(self.ln2(x))
        return x
