# Transformer 块：先归一化（pre-norm），残差取自原输入
import torch
from torch import nn
import torch.nn.functional as F


class TransformerBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, causal=True):
        super().__init__()
        self.头数, self.因果 = num_heads, causal
        self.归一1, self.归一2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.wq, self.wk = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.wv, self.wo = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.升维, self.降维 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def 注意力(self, x, 填充):
        批, 长, 宽 = x.shape
        拆 = lambda y: y.reshape(批, 长, self.头数, -1).transpose(1, 2)
        q, k, v = 拆(self.wq(x)), 拆(self.wk(x)), 拆(self.wv(x))
        分数 = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
        if self.因果:
            分数 = 分数.masked_fill(torch.triu(torch.ones(长, 长), 1).bool(), -1e9)
        if 填充 is not None:
            分数 = 分数.masked_fill(~填充[:, None, None], -1e9)
        return self.wo((分数.softmax(-1) @ v).transpose(1, 2).reshape(批, 长, 宽))

    def forward(self, x, padding_mask=None):
        x = x + self.注意力(self.归一1(x), padding_mask)      # 残差
        return x + self.降维(F.gelu(self.升维(self.归一2(x))))  # 前馈
