import torch
from torch import nn
import math


class OneHeadAttention(nn.Module):
    def __init__(self, emb_size, qk_size, v_size):
        super(OneHeadAttention, self).__init__()
        self.Wq = nn.Linear(emb_size, qk_size)
        self.Wk = nn.Linear(emb_size, qk_size)
        self.Wv = nn.Linear(emb_size, v_size)
        self.softmax = nn.Softmax(dim=-1)

    def forward(self, x_q, x_kv, mask=None):
        Q = self.Wq(x_q)
        K = self.Wk(x_kv)
        V = self.Wv(x_kv)
        dk = Q.size(-1)
        scores = torch.matmul(Q, K.transpose(1, 2)) / math.sqrt(dk)
        if mask is not None:
            scores = scores.masked_fill(mask, -1e9)
        attn_weights = self.softmax(scores)
        output = torch.matmul(attn_weights, V)
        return output


if __name__ == '__main__':
    x_q, x_kv = torch.randn(2, 3, 8), torch.randn(2, 6, 8)
    mask = torch.zeros(2, 3, 6, dtype=torch.bool)
    mask[0, :, -2:] = True
    cross_attn = OneHeadAttention(8, 6, 4)
    print(cross_attn(x_q, x_kv, mask).shape)
