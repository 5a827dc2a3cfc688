import torch
from torch import nn


class OneHeadAttention(nn.Module):
    def __init__(self, emb_size, qk_size, v_size):
        super().__init__()
        self.fq = nn.Conv1d(emb_size, qk_size, kernel_size=1)
        self.fk = nn.Conv1d(emb_size, qk_size, kernel_size=1)
        self.fv = nn.Conv1d(emb_size, v_size, kernel_size=1)

    def forward(self, x_q, x_kv, mask=None):
        q, k, v = self.fq(x_q.mT), self.fk(x_kv.mT), self.fv(x_kv.mT)
        s = q.mT @ k / q.size(1) ** 0.5
        if mask is not None:
            s = s.masked_fill(mask, torch.finfo(s.dtype).min)
        return (v @ s.softmax(-1).mT).mT
