import torch
from torch import nn


class OneHeadAttention(nn.Module):
    def __init__(self, emb_size, qk_size, v_size):
        super().__init__()
        self.wq, self.wk, self.wv = (nn.Linear(emb_size, n) for n in (qk_size, qk_size, v_size))

    def forward(self, x_q, x_kv, mask=None):
        q, k, v = self.wq(x_q), self.wk(x_kv), self.wv(x_kv)
        s = q @ k.transpose(-2, -1) * q.size(-1) ** -0.5
        if mask is not None:
            s = s.masked_fill(mask, float("-inf"))
            s = s.masked_fill(mask.all(-1, keepdim=True), 0.0)
        p = s.softmax(-1)
        if mask is not None:
            p = p.masked_fill(mask, 0.0)
            p = p / p.sum(-1, keepdim=True).clamp_min(torch.finfo(p.dtype).tiny)
        return p @ v
