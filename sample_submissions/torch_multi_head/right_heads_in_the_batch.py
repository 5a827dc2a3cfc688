import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        assert d_model % num_heads == 0
        self.heads = num_heads
        self.fc_q = nn.Linear(d_model, d_model, bias=False)
        self.fc_k = nn.Linear(d_model, d_model, bias=False)
        self.fc_v = nn.Linear(d_model, d_model, bias=False)
        self.fc_out = nn.Linear(d_model, d_model, bias=False)

    def forward(self, q, k, v, mask=None):
        width = q.size(-1) // self.heads
        # heads first: (h*B, T, d)
        Q = torch.cat(self.fc_q(q).split(width, dim=-1), dim=0)
        K = torch.cat(self.fc_k(k).split(width, dim=-1), dim=0)
        V = torch.cat(self.fc_v(v).split(width, dim=-1), dim=0)
        scores = torch.bmm(Q, K.transpose(1, 2)) * width ** -0.5
        if mask is not None:
            full = mask.expand(q.size(0), self.heads, q.size(1), k.size(1))
            full = full.transpose(0, 1).reshape(-1, q.size(1), k.size(1))
            scores = scores.masked_fill(~full, torch.finfo(scores.dtype).min)
        out = torch.bmm(scores.softmax(-1), V)
        return self.fc_out(torch.cat(out.chunk(self.heads, dim=0), dim=-1))
