import numpy as np


def softmax(x, axis=-1, where=True):
    # maximum over the visible entries only; invisible ones never enter exp()
    top = np.max(x, axis=axis, keepdims=True, where=where, initial=-np.finfo(float).max)
    gap = np.where(where, x - top, 0.0)
    e = np.exp(gap) * where
    total = e.sum(axis=axis, keepdims=True)
    return e / np.maximum(total, np.finfo(e.dtype).tiny)


def attention(Q, K, V, mask=None):
    scores = Q @ K.transpose(0, 2, 1) / np.sqrt(Q.shape[-1])
    w = softmax(scores, where=True if mask is None else mask)
    return w @ V, w


def causal_mask(length):
    r = np.arange(length)
    return r[:, None] - r[None, :] >= 0


def padding_mask(lengths, max_len):
    lengths = np.asarray(lengths)
    return np.arange(max_len) < lengths[:, None, None]


def split_heads(x, h):
    B, T, D = x.shape
    if D % h:
        raise ValueError(f"{D=} {h=}")
    return x.reshape(B, T, h, D // h).transpose(0, 2, 1, 3)


def merge_heads(x):
    B, h, T, d = x.shape
    return x.transpose(0, 2, 1, 3).reshape(B, T, h * d)


def positional_encoding(max_len, d):
    angle = np.arange(max_len)[:, None] * np.geomspace(1, 10000 ** (2 / d - 1), d // 2)
    return np.concatenate([np.sin(angle), np.cos(angle)], axis=1)
