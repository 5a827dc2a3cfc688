import torch
import torch.nn as nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        assert d_model % num_heads == 0
        self.n_head = num_heads
        self.w_qs = nn.Linear(d_model, d_model)
        self.w_ks = nn.Linear(d_model, d_model)
        self.w_vs = nn.Linear(d_model, d_model)
        self.fc = nn.Linear(d_model, d_model)

    def fold(self, x):
        b, t, d = x.shape
        x = x.view(b, t, self.n_head, d // self.n_head)
        return x.permute(0, 2, 1, 3).reshape(b * self.n_head, t, -1)      # (b*n) x t x d_head

    def forward(self, q, k, v, mask=None):
        b, tq, d = q.shape
        Q, K, V = self.fold(self.w_qs(q)), self.fold(self.w_ks(k)), self.fold(self.w_vs(v))
        scores = torch.bmm(Q, K.transpose(1, 2)) / Q.size(-1) ** 0.5
        if mask is not None:
            mask = mask.expand(b, self.n_head, tq, k.size(1)).reshape(b * self.n_head, tq, -1)
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        out = torch.bmm(scores.softmax(dim=-1), V)
        out = out.view(self.n_head, b, tq, -1)
        out = out.permute(1, 2, 0, 3).contiguous().view(b, tq, d)
        return self.fc(out)
