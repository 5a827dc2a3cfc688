# -*- coding: utf-8 -*-
# 手写注意力（numpy）。先把缩放折进 Q，少做一次 (B, Tq, Tk) 的除法。
import numpy as np


def softmax(x, axis=-1):
    # 减去最大值，防止 exp 溢出
    x_max = np.max(x, axis=axis, keepdims=True)
    exp_x = np.exp(x - x_max)
    return exp_x / np.sum(exp_x, axis=axis, keepdims=True)


def attention(Q, K, V, mask=None):
    # Q: (B, Tq, d_k)  K: (B, Tk, d_k)  V: (B, Tk, d_v)
    d_k = Q.shape[-1]
    q = Q * (d_k ** -0.5)                       # 不用 *=，避免改到调用者的数组
    scores = q @ K.transpose(0, 2, 1)           # (B, Tq, Tk)
    if mask is not None:
        scores = np.where(mask, scores, -1e9)   # True 表示可以看
    weights = softmax(scores, axis=-1)          # 每个 query 对所有 key 归一化
    return weights @ V, weights


def causal_mask(length):
    # 下三角（含对角线）：位置 i 只能看 0..i
    return ~np.triu(np.ones((length, length), dtype=bool), k=1)


def padding_mask(lengths, max_len):
    # (B, 1, max_len)：中间那个 1 用来在 query 维上广播
    lengths = np.asarray(lengths)
    return np.arange(max_len).reshape(1, 1, -1) < lengths.reshape(-1, 1, 1)


def split_heads(x, h):
    B, T, D = x.shape
    assert D % h == 0, "维度必须能被头数整除"
    return x.reshape(B, T, h, D // h).transpose(0, 2, 1, 3)


def merge_heads(x):
    B, h, T, d = x.shape
    return x.transpose(0, 2, 1, 3).reshape(B, T, h * d)


def positional_encoding(max_len, d):
    pos = np.arange(max_len)[:, None]
    i = np.arange(d // 2)
    angle = pos / 10000 ** (2 * i / d)
    return np.concatenate([np.sin(angle), np.cos(angle)], axis=1)   # 前半 sin，后半 cos
