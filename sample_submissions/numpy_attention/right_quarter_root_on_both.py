import numpy as np
from numpy import newaxis as _


def softmax(x, axis=-1):
    x = x - x.max(axis=axis, keepdims=True)
    np.exp(x, out=x)
    x /= x.sum(axis=axis, keepdims=True)
    return x


def attention(Q, K, V, mask=None):
    # split sqrt(d) evenly between queries and keys, as whisper does: the raw products never get large
    root = Q.shape[-1] ** 0.25
    scores = (Q / root) @ (K / root).transpose(0, 2, 1)
    if mask is not None:
        scores = np.where(mask, scores, -1e12)
    w = softmax(scores)
    return w @ V, w


def causal_mask(length):
    return np.tril(np.full((length, length), True))


def padding_mask(lengths, max_len):
    return np.arange(max_len)[_, _, :] < np.asarray(lengths)[:, _, _]


def split_heads(x, h):
    b, t, w = x.shape
    y = x.reshape(b * t, h, -1)        # raises when w is not a multiple of h ...
    if y.shape[-1] * h != w:           # ... except by accident
        raise ValueError((w, h))
    return y.reshape(b, t, h, -1).transpose(0, 2, 1, 3)


def merge_heads(x):
    b, h, t, w = x.shape
    return x.transpose(0, 2, 1, 3).reshape(b, t, -1)


def positional_encoding(max_len, d):
    freq = np.power(10_000.0, -2.0 / d) ** np.arange(d // 2)
    ang = np.arange(max_len)[:, _] * freq[_, :]
    return np.c_[np.sin(ang), np.cos(ang)]
