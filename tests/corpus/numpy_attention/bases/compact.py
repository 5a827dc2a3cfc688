import numpy as np


def softmax(x, axis=-1):
    x = x - x.max(axis=axis, keepdims=True)
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)


def causal_mask(length):
    return np.tril(np.ones((length, length), dtype=bool))


def padding_mask(lengths, max_len):
    return np.arange(max_len)[None, None, :] < np.asarray(lengths)[:, None, None]


def split_heads(x, h):
    B, T, D = x.shape
    assert D % h == 0
    return x.reshape(B, T, h, D // h).transpose(0, 2, 1, 3)


def merge_heads(x):
    B, h, T, d = x.shape
    return x.transpose(0, 2, 1, 3).reshape(B, T, h * d)


def positional_encoding(max_len, d):
    pos = np.arange(max_len)[:, None]
    i = np.arange(d // 2)[None, :]
    ang = pos / np.power(10000, 2 * i / d)
    return np.concatenate([np.sin(ang), np.cos(ang)], axis=1)


def attention(Q, K, V, mask=None):
    d = Q.shape[-1]
    scores = Q @ K.transpose(0, 2, 1) / np.sqrt(d)
    if mask is not None:
        scores = np.where(mask, scores, -1e9)
    w = softmax(scores)
    return w @ V, w
