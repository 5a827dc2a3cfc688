import torch
from torch import nn


class OneHeadAttention(nn.Module):
    def __init__(self, emb_size, qk_size, v_size):
        super().__init__()
        self.sizes = [qk_size, qk_size, v_size]
        self.qkv = nn.Linear(emb_size, sum(self.sizes))

    def forward(self, x_q, x_kv, mask=None):
        q = self.qkv(x_q).split(self.sizes, dim=-1)[0]
        _, k, v = self.qkv(x_kv).split(self.sizes, dim=-1)
        s = q @ k.mT / self.sizes[0] ** 0.5
        if mask is not None:
            s = s.masked_fill(mask, torch.finfo(s.dtype).min)
        return s.softmax(-1) @ v
