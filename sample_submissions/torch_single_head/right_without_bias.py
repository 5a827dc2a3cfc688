import torch
from torch import nn


class OneHeadAttention(nn.Module):
    def __init__(self, emb_size, qk_size, v_size):
        super().__init__()
        self.to_q = nn.Linear(emb_size, qk_size, bias=False)
        self.to_k = nn.Linear(emb_size, qk_size, bias=False)
        self.to_v = nn.Linear(emb_size, v_size, bias=False)

    def forward(self, x_q, x_kv, mask=None):
        q, k, v = self.to_q(x_q), self.to_k(x_kv), self.to_v(x_kv)
        sim = torch.einsum("bid,bjd->bij", q, k) / k.shape[-1] ** 0.5
        if mask is not None:
            sim = torch.where(mask, torch.finfo(sim.dtype).min, sim)
        return torch.einsum("bij,bjd->bid", sim.softmax(dim=-1), v)
