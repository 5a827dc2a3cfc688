import torch
import torch.nn as nn
import torch.nn.functional as F


class MultiHeadAttention(nn.Module):
    # one (3D, D) matrix, sliced, as nn.MultiheadAttention keeps it
    def __init__(self, d_model, num_heads):
        super().__init__()
        assert d_model % num_heads == 0, "num_heads must divide d_model"
        self.h, self.d = num_heads, d_model // num_heads
        self.in_proj_weight = nn.Parameter(torch.empty(3 * d_model, d_model))
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * d_model))
        self.out_proj = nn.Linear(d_model, d_model)
        nn.init.xavier_uniform_(self.in_proj_weight)

    def forward(self, q, k, v, mask=None):
        ws, bs = self.in_proj_weight.chunk(3), self.in_proj_bias.chunk(3)
        heads = [F.linear(x, w, b).unflatten(-1, (self.h, self.d)).transpose(1, 2)
                 for x, w, b in zip((q, k, v), ws, bs)]
        Q, K, V = heads
        s = (Q * self.d ** -0.5) @ K.mT
        if mask is not None:
            s = torch.where(mask, s, torch.tensor(torch.finfo(s.dtype).min, dtype=s.dtype))
        return self.out_proj((s.softmax(-1) @ V).transpose(1, 2).flatten(2))
