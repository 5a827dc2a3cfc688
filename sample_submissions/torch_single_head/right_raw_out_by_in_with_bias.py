import torch.nn.functional as F
import torch
from torch import nn


class OneHeadAttention(nn.Module):
    def __init__(self, emb_size, qk_size, v_size):
        super().__init__()
        self.a = nn.Parameter(torch.randn(qk_size, emb_size) * 0.1)
        self.b = nn.Parameter(torch.randn(qk_size, emb_size) * 0.1)
        self.c = nn.Parameter(torch.randn(v_size, emb_size) * 0.1)
        self.a_bias = nn.Parameter(torch.zeros(qk_size))
        self.b_bias = nn.Parameter(torch.zeros(qk_size))
        self.c_bias = nn.Parameter(torch.zeros(v_size))

    def forward(self, x_q, x_kv, mask=None):
        q = F.linear(x_q, self.a, self.a_bias)
        k = F.linear(x_kv, self.b, self.b_bias)
        v = F.linear(x_kv, self.c, self.c_bias)
        s = torch.baddbmm(torch.zeros(1, dtype=q.dtype), q, k.transpose(1, 2), beta=0, alpha=k.size(-1) ** -0.5)
        if mask is not None:
            s = s.masked_fill(mask, torch.finfo(s.dtype).min)
        return torch.bmm(F.softmax(s, dim=-1), v)
