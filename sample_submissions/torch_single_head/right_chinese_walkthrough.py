import torch
from torch import nn


class OneHeadAttention(nn.Module):
    def __init__(self, emb_size, qk_size, v_size):
        super().__init__()
        # 三个线性层：查询、键、值
        self.查询层 = nn.Linear(emb_size, qk_size)
        self.键层 = nn.Linear(emb_size, qk_size)
        self.值层 = nn.Linear(emb_size, v_size)

    def forward(self, x_q, x_kv, mask=None):
        # 第一步：投影
        Q, K, V = self.查询层(x_q), self.键层(x_kv), self.值层(x_kv)
        # 第二步：打分并缩放
        分数 = Q @ K.transpose(1, 2) / (Q.size(-1) ** 0.5)
        # 第三步：掩码，True 表示屏蔽
        if mask is not None:
            分数 = 分数.masked_fill(mask, torch.finfo(分数.dtype).min)
        # 第四步：归一化；第五步：加权求和
        return torch.softmax(分数, dim=-1) @ V
