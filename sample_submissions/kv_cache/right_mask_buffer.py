import math

import torch
import torch.nn as nn


class CachedAttention(nn.Module):
    def __init__(self, d_model, num_heads, block_size=1024):
        super().__init__()
        assert d_model % num_heads == 0
        self.n_head, self.n_embd = num_heads, d_model
        self.c_attn = nn.Linear(d_model, 3 * d_model)
        self.c_proj = nn.Linear(d_model, d_model)
        mask = torch.tril(torch.ones(block_size, block_size))
        self.register_buffer("bias", mask.view(1, 1, block_size, block_size))

    def forward(self, x, cache=None):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(self.n_embd, dim=2)
        q, k, v = (y.view(B, T, self.n_head, C // self.n_head).transpose(1, 2) for y in (q, k, v))
        if cache is not None:
            k, v = torch.cat((cache[0], k), dim=-2), torch.cat((cache[1], v), dim=-2)
        end = k.size(-2)
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = att.masked_fill(self.bias[:, :, end - T:end, :end] == 0, -1e6)
        y = torch.softmax(att.float(), dim=-1).type_as(v) @ v
        y = y.transpose(1, 2).contiguous().view(B, T, C)
        return self.c_proj(y), torch.stack((k, v))
