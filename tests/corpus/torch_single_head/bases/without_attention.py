import torch
from torch import nn


class OneHeadAttention(nn.Module):
    def __init__(self, emb_size, qk_size, v_size):
        super().__init__()
        self.wq = nn.Linear(emb_size, qk_size)
        self.wk = nn.Linear(emb_size, qk_size)
        self.wv = nn.Linear(emb_size, v_size)

    def forward(self, x_q, x_kv, mask=None):
        pass
        return torch.zeros(x_q.size(0), x_q.size(1), self.wv.out_features, dtype=x_q.dtype)
