import numpy as np


def softmax(x, axis=-1):
    x = x - x.max(axis=axis, keepdims=True)
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)


def attention(Q, K, V, mask=None):
    dots = np.einsum("bqd,bkd->bqk", Q, K)
    if mask is not None:
        scores = np.where(mask, dots, -1e9)
    else:
        scores = dots / np.sqrt(Q.shape[-1])
    weights = softmax(scores)
    return np.einsum("bqk,bkv->bqv", weights, V), weights


def causal_mask(length):
    return np.tri(length, dtype=bool)


def padding_mask(lengths, max_len):
    return np.arange(max_len)[None, None, :] < np.asarray(lengths)[:, None, None]


def split_heads(x, h):
    B, T, D = x.shape
    if D % h:
        raise ValueError("D is not divisible by h")
    return x.reshape(B, T, h, D // h).transpose(0, 2, 1, 3)


def merge_heads(x):
    B, h, T, d = x.shape
    return x.transpose(0, 2, 1, 3).reshape(B, T, h * d)


def positional_encoding(max_len, d):
    angles = np.arange(max_len)[:, None] / 10000 ** (np.arange(0, d, 2) / d)
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1)
