import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class OneHeadAttention(nn.Module):
    def __init__(self, emb_size, qk_size, v_size):
        super().__init__()
        self.d_head = qk_size
        self.Wq = torch.randn(emb_size, qk_size, requires_grad=True)
        self.Wk = torch.randn(emb_size, qk_size, requires_grad=True)
        self.Wv = torch.randn(emb_size, v_size, requires_grad=True)

    def forward(self, x_q, x_kv, mask=None):
        Q = x_q @ self.Wq
        K = x_kv @ self.Wk
        V = x_kv @ self.Wv
        scores = Q @ K.transpose(-2, -1) / math.sqrt(self.d_head)
        if mask is not None:
            scores = scores.masked_fill(mask, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        out = weights @ V
        return out
