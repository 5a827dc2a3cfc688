import torch
from torch import nn


class OneHeadAttention(nn.Module):
    def __init__(self, emb_size, qk_size, v_size):
        super().__init__()
        self.wq = nn.Linear(emb_size, qk_size)
        self.wk = nn.Linear(emb_size, qk_size)
        self.wv = nn.Linear(emb_size, v_size)

    def forward(self, x_q):
        raise NotImplementedError
        return out
