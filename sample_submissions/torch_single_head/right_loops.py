import torch
from torch import nn


class OneHeadAttention(nn.Module):
    def __init__(self, emb_size, qk_size, v_size):
        super().__init__()
        self.lq, self.lk = nn.Linear(emb_size, qk_size), nn.Linear(emb_size, qk_size)
        self.lv = nn.Linear(emb_size, v_size)

    def forward(self, x_q, x_kv, mask=None):
        q, k, v = self.lq(x_q), self.lk(x_kv), self.lv(x_kv)
        rows = []
        for b in range(q.shape[0]):
            out = []
            for i in range(q.shape[1]):
                s = k[b] @ q[b, i] / k.shape[-1] ** 0.5
                if mask is not None:
                    s = s.masked_fill(mask[b, i], torch.finfo(s.dtype).min)
                out.append(torch.softmax(s, 0) @ v[b])
            rows.append(torch.stack(out))
        return torch.stack(rows)
