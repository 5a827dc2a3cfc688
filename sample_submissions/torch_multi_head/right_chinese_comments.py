# 多头注意力：先投影，再拆头，最后合并
import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        assert d_model % num_heads == 0, "d_model 必须能被头数整除"
        self.头数 = num_heads
        self.头维 = d_model // num_heads
        self.查询 = nn.Linear(d_model, d_model)
        self.键 = nn.Linear(d_model, d_model)
        self.值 = nn.Linear(d_model, d_model)
        self.输出 = nn.Linear(d_model, d_model)

    def 拆头(self, x):
        # (批, 长, 宽) -> (批, 头, 长, 头维)
        return x.reshape(x.size(0), x.size(1), self.头数, self.头维).transpose(1, 2)

    def forward(self, q, k, v, mask=None):
        Q, K, V = self.拆头(self.查询(q)), self.拆头(self.键(k)), self.拆头(self.值(v))
        分数 = Q @ K.transpose(-2, -1) / math.sqrt(self.头维)   # 缩放
        if mask is not None:
            分数 = 分数.masked_fill(~mask, torch.finfo(分数.dtype).min)  # True 表示可以看
        权重 = 分数.softmax(-1)
        合并 = (权重 @ V).transpose(1, 2).reshape(q.shape)
        return self.输出(合并)
