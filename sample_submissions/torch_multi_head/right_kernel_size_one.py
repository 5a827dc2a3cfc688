import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        assert d_model % num_heads == 0
        self.h = num_heads
        self.conv_q = nn.Conv1d(d_model, d_model, 1)
        self.conv_k = nn.Conv1d(d_model, d_model, 1)
        self.conv_v = nn.Conv1d(d_model, d_model, 1)
        self.conv_o = nn.Conv1d(d_model, d_model, 1)

    def forward(self, q, k, v, mask=None):
        q, k, v = (c(x.transpose(1, 2)).unflatten(1, (self.h, -1))
                   for c, x in ((self.conv_q, q), (self.conv_k, k), (self.conv_v, v)))
        s = q.transpose(2, 3) @ k / q.shape[2] ** 0.5
        if mask is not None:
            s = s.masked_fill(~mask, torch.finfo(s.dtype).min)
        o = v @ s.softmax(-1).transpose(2, 3)
        return self.conv_o(o.flatten(1, 2)).transpose(1, 2)
