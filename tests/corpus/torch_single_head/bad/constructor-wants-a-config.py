import torch
from torch import nn


class OneHeadAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.wq = nn.Linear(config.emb_size, config.qk_size)
        self.wk = nn.Linear(config.emb_size, config.qk_size)
        self.wv = nn.Linear(config.emb_size, config.v_size)

    def forward(self, x_q, x_kv, mask=None):
        q, k, v = self.wq(x_q), self.wk(x_kv), self.wv(x_kv)
        s = q @ k.transpose(1, 2) / q.size(-1) ** 0.5
        if mask is not None:
            s = s.masked_fill(mask, torch.finfo(s.dtype).min)
        out = torch.softmax(s, -1) @ v
        return out
