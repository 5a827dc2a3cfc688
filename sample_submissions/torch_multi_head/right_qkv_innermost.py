import torch
import torch.nn as nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        assert d_model % num_heads == 0
        self.num_heads = num_heads
        self.qkv = nn.Linear(d_model, d_model * 3)
        self.att_drop = nn.Dropout(0.0)
        self.projection = nn.Linear(d_model, d_model)

    def forward(self, q, k, v, mask=None):
        # features are (h d qkv): the three belong together innermost
        b, h = q.shape[0], self.num_heads
        pick = lambda x, n: self.qkv(x).view(b, x.shape[1], h, -1, 3)[..., n].transpose(1, 2)
        queries, keys, values = pick(q, 0), pick(k, 1), pick(v, 2)
        energy = torch.einsum("bhqd,bhkd->bhqk", queries, keys)
        energy = energy / queries.shape[-1] ** 0.5
        if mask is not None:
            energy = energy.masked_fill(~mask, torch.finfo(energy.dtype).min)
        att = self.att_drop(energy.softmax(dim=-1))
        out = torch.einsum("bhal,bhlv->bahv", att, values)
        return self.projection(out.reshape(b, q.shape[1], -1))
