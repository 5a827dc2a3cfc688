import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        assert d_model % num_heads == 0
        self.n_head = num_heads
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_concat = nn.Linear(d_model, d_model)

    def forward(self, q, k, v, mask=None):
        q, k, v = self.split(self.w_q(q)), self.split(self.w_k(k)), self.split(self.w_v(v))
        score = (q @ k.transpose(2, 3)) / math.sqrt(q.size(3))
        if mask is not None:
            score = score.masked_fill(mask == 0, -10000)
        out = torch.softmax(score, dim=-1) @ v
        return self.w_concat(self.concat(out))

    def split(self, tensor):
        batch, length, width = tensor.size()
        return tensor.view(batch, length, self.n_head, width // self.n_head).transpose(1, 2)

    def concat(self, tensor):
        batch, head, length, width = tensor.size()
        return tensor.transpose(1, 2).contiguous().view(batch, length, head * width)
