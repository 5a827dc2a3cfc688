import torch
import torch.nn as nn
import torch.nn.functional as F


class TransformerBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, causal=True):
        super().__init__()
        self.heads, self.causal = num_heads, causal
        self.attn_norm, self.ffn_norm = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.in_proj = nn.Linear(d_model, 3 * d_model)
        self.out_proj = nn.Linear(d_model, d_model)
        self.up, self.down = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def forward(self, x, padding_mask=None):
        b, t, d = x.shape
        keep = torch.ones(1, 1, t, t, dtype=torch.bool)
        if self.causal:
            keep = keep.tril()
        if padding_mask is not None:
            keep = keep & padding_mask[:, None, None, :]

        q, k, v = self.in_proj(self.attn_norm(x)).chunk(3, dim=-1)
        q, k, v = (y.reshape(b, t, self.heads, -1).transpose(1, 2) for y in (q, k, v))
        s = (q @ k.mT * q.shape[-1] ** -0.5).masked_fill(~keep, -1e9)
        p = torch.softmax(s.float(), -1).type_as(x)
        x = x + self.out_proj((p @ v).transpose(1, 2).reshape(b, t, d))
        x = x + self.down(F.gelu(self.up(self.ffn_norm(x))))
        if padding_mask is not None:
            x = x * padding_mask[..., None]     # padding stays zero from block to block
        return x
