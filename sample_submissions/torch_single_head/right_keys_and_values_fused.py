import torch
from torch import nn


class OneHeadAttention(nn.Module):
    def __init__(self, emb_size, qk_size, v_size):
        super().__init__()
        self.qk_size = qk_size
        self.q_proj = nn.Linear(emb_size, qk_size)
        self.kv_proj = nn.Linear(emb_size, qk_size + v_size)

    def forward(self, x_q, x_kv, mask=None):
        q, kv = self.q_proj(x_q), self.kv_proj(x_kv)
        k, v = kv[..., : self.qk_size], kv[..., self.qk_size :]
        att = (q / self.qk_size ** 0.5) @ k.transpose(-1, -2)
        if mask is not None:
            att = att.masked_fill(mask, torch.finfo(att.dtype).min)
        return torch.softmax(att, -1) @ v
