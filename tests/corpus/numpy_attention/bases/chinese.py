# 手写注意力
import numpy as np


def softmax(x, axis=-1):
    """减最大值，数值稳定"""
    exp_x = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return exp_x / np.sum(exp_x, axis=axis, keepdims=True)


def attention(Q, K, V, mask=None):
    d_k = Q.shape[-1]
    scores = np.matmul(Q, K.transpose(0, 2, 1)) / np.sqrt(d_k)   # (B, Tq, Tk)
    if mask is not None:
        scores = np.where(mask, scores, -1e9)                    # 被遮的位置
    weights = softmax(scores, axis=-1)
    out = np.matmul(weights, V)                                  # (B, Tq, d_v)
    return out, weights


def causal_mask(length):
    # 只能看自己和左边
    return np.tril(np.ones((length, length))).astype(bool)


def padding_mask(lengths, max_len):
    # True 表示真实的 token
    mask = np.arange(max_len)[None, :] < np.array(lengths)[:, None]
    return mask[:, None, :]


def split_heads(x, h):
    B, T, D = x.shape
    if D % h != 0:
        raise ValueError("D 必须能被 h 整除")
    return x.reshape(B, T, h, D // h).transpose(0, 2, 1, 3)   # 先 reshape 再转置


def merge_heads(x):
    B, h, T, d = x.shape
    return x.transpose(0, 2, 1, 3).reshape(B, T, h * d)


def positional_encoding(max_len, d):
    pos = np.arange(max_len).reshape(-1, 1)
    i = np.arange(d // 2).reshape(1, -1)
    angle = pos / 10000 ** (2 * i / d)
    return np.concatenate([np.sin(angle), np.cos(angle)], axis=1)
