import torch
from torch import nn


class CachedAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        assert d_model % num_heads == 0
        self.h, self.d = num_heads, d_model // num_heads
        self.wq = nn.Linear(d_model, d_model)   # 查询
        self.wk = nn.Linear(d_model, d_model)   # 键
        self.wv = nn.Linear(d_model, d_model)   # 值
        self.wo = nn.Linear(d_model, d_model)   # 输出

    def forward(self, x, cache=None):
        批, 长, 宽 = x.shape
        拆 = lambda y: y.reshape(批, 长, self.h, self.d).transpose(1, 2)
        q, k, v = 拆(self.wq(x)), 拆(self.wk(x)), 拆(self.wv(x))
        if cache is not None:           # 拼接历史
            k = torch.cat([cache[0], k], 2)
            v = torch.cat([cache[1], v], 2)
        总长 = k.size(2)
        分数 = q @ k.transpose(-2, -1) / self.d ** 0.5
        可见 = torch.ones(长, 总长, dtype=torch.bool).tril(总长 - 长)   # 右下对齐
        权重 = 分数.masked_fill(~可见, -1e9).softmax(-1)
        return self.wo((权重 @ v).transpose(1, 2).reshape(批, 长, 宽)), (k, v)
