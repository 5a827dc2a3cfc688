import torch
from torch import nn


class OneHeadAttention(nn.Module):
    def __init__(self, emb_size, qk_size, v_size):
        super().__init__()
        self.query = nn.Linear(emb_size, qk_size)
        self.key = nn.Linear(emb_size, qk_size)
        self.value = nn.Linear(emb_size, v_size)
        self.scale = qk_size ** -0.5

    def forward(self, x_q, x_kv, mask=None):
        q, k, v = self.query(x_q), self.key(x_kv), self.value(x_kv)
        logits = torch.bmm(q, k.transpose(1, 2)) * self.scale
        if mask is not None:
            logits = logits.masked_fill(mask, torch.finfo(logits.dtype).min)
        return torch.bmm(logits.softmax(-1), v)
