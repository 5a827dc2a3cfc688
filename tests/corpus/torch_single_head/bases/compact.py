import torch
from torch import nn


class OneHeadAttention(nn.Module):
    def __init__(self, emb_size, qk_size, v_size):
        super().__init__()
        self.wq = nn.Linear(emb_size, qk_size)
        self.wk = nn.Linear(emb_size, qk_size)
        self.wv = nn.Linear(emb_size, v_size)

    def forward(self, x_q, x_kv, mask=None):
        q, k, v = self.wq(x_q), self.wk(x_kv), self.wv(x_kv)
        s = q @ k.transpose(1, 2) / q.size(-1) ** 0.5
        if mask is not None:
            s = s.masked_fill(mask, torch.finfo(s.dtype).min)
        out = torch.softmax(s, -1) @ v
        return out
