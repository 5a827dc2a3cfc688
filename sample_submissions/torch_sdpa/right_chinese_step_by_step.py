# -*- coding: utf-8 -*-
"""
手撕缩放点积注意力
    五步：打分 -> 缩放 -> 掩码 -> softmax -> 加权求和
    形状：q [B,H,Tq,d]  k [B,H,Tk,d]  v [B,H,Tk,dv]
"""
import math
import torch
from torch import nn


def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    B, H, Tq, d = q.shape
    Tk, dv = k.shape[2], v.shape[3]

    # 1. 打分：k 只转置最后两维
    scores = torch.matmul(q, k.transpose(-2, -1))
    assert scores.shape == (B, H, Tq, Tk)

    # 2. 缩放：除以根号 d，不是 d
    scores = scores / math.sqrt(d)

    # 3. 掩码：0/False 屏蔽；浮点掩码直接相加
    if attn_mask is not None:
        if attn_mask.dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
            scores = scores + attn_mask.to(scores.dtype)
        else:
            很小 = torch.finfo(scores.dtype).min       # 半精度也不会溢出
            scores = scores.masked_fill(attn_mask == 0, 很小)

    # 4. 归一化：对 key 这一维
    weights = torch.softmax(scores, dim=-1)

    # 5. dropout 放在权重上，只在训练时生效
    weights = nn.functional.dropout(weights, p=dropout_p, training=training)

    # 6. 加权求和
    out = torch.matmul(weights, v)
    assert out.shape == (B, H, Tq, dv)
    return out, weights
