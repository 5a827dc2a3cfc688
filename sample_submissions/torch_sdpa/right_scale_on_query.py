# 手写 SDPA：缩放先乘到 q 上，省一次 (Tq, Tk) 大小的除法
import math
import torch
import torch.nn.functional as F


def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    # q: [B, H, Tq, d]   k: [B, H, Tk, d]   v: [B, H, Tk, dv]
    q = q * (1.0 / math.sqrt(q.size(-1)))           # 新张量，不是 q *= ...，不改调用者的数据
    scores = q @ k.transpose(-2, -1)                # [B, H, Tq, Tk]

    if attn_mask is not None:
        if attn_mask.is_floating_point():           # 加性 mask
            scores = scores + attn_mask.to(scores.dtype)
        else:                                       # 0 / False = 屏蔽
            # 用当前 dtype 的最小值：fp16 下 -1e9 会溢出，-inf 整行会变 nan
            scores = scores.masked_fill(attn_mask == 0, torch.finfo(scores.dtype).min)

    weights = torch.softmax(scores, dim=-1)         # 对 key 归一化
    weights = F.dropout(weights, p=dropout_p, training=training)   # dropout 作用在权重上
    return weights @ v, weights
