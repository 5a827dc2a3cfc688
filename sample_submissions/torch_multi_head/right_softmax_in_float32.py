import torch
import torch.nn as nn
import torch.nn.functional as F


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        assert d_model % num_heads == 0
        self.n_heads, self.head_dim = num_heads, d_model // num_heads
        self.wq = nn.Linear(d_model, d_model, bias=False)
        self.wk = nn.Linear(d_model, d_model, bias=False)
        self.wv = nn.Linear(d_model, d_model, bias=False)
        self.wo = nn.Linear(d_model, d_model, bias=False)

    def forward(self, q, k, v, mask=None):
        bsz, seqlen, _ = q.shape
        xq = self.wq(q).view(bsz, seqlen, self.n_heads, self.head_dim).transpose(1, 2)
        xk = self.wk(k).view(bsz, -1, self.n_heads, self.head_dim).transpose(1, 2)
        xv = self.wv(v).view(bsz, -1, self.n_heads, self.head_dim).transpose(1, 2)
        scores = torch.matmul(xq, xk.transpose(2, 3)) / self.head_dim ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        scores = F.softmax(scores.float(), dim=-1).type_as(xq)   # always in single precision
        output = torch.matmul(scores, xv)
        return self.wo(output.transpose(1, 2).reshape(bsz, seqlen, -1))
