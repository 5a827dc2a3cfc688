import torch
from torch import nn


class OneHeadAttention(nn.Module):
    def __init__(self, emb_size, qk_size, v_size):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(emb_size, n) for n in (qk_size, qk_size, v_size)])
        self.dropout = nn.Dropout(0.1)

    def forward(self, x_q, x_kv, mask=None):
        q, k, v = (layer(x) for layer, x in zip(self.layers, (x_q, x_kv, x_kv)))
        a = q @ k.transpose(-2, -1) / k.size(-1) ** 0.5
        if mask is not None:
            a = a.masked_fill(mask, torch.finfo(a.dtype).min)
        return self.dropout(a.softmax(-1)) @ v
