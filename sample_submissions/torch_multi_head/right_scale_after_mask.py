import torch
import torch.nn as nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super(MultiHeadAttention, self).__init__()
        self.heads = num_heads
        self.head_dim = d_model // num_heads
        assert self.head_dim * num_heads == d_model, "d_model needs to be divisible by num_heads"
        self.queries = nn.Linear(d_model, d_model, bias=False)
        self.keys = nn.Linear(d_model, d_model, bias=False)
        self.values = nn.Linear(d_model, d_model, bias=False)
        self.fc_out = nn.Linear(d_model, d_model)

    def forward(self, q, k, v, mask=None):
        N, q_len, k_len = q.shape[0], q.shape[1], k.shape[1]
        Q = self.queries(q).reshape(N, q_len, self.heads, self.head_dim)
        K = self.keys(k).reshape(N, k_len, self.heads, self.head_dim)
        V = self.values(v).reshape(N, k_len, self.heads, self.head_dim)

        energy = torch.einsum("nqhd,nkhd->nhqk", Q, K)
        if mask is not None:
            energy = energy.masked_fill(mask == 0, torch.finfo(energy.dtype).min)
        attention = torch.softmax(energy / self.head_dim ** 0.5, dim=3)   # scaled last

        out = torch.einsum("nhql,nlhd->nqhd", attention, V).reshape(N, q_len, -1)
        return self.fc_out(out)
