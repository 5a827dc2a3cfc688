import numpy as np


def softmax(x, axis=-1):
    x = x.astype(np.float_)
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def attention(Q, K, V, mask=None):
    scores = Q @ K.transpose(0, 2, 1) / np.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.infty)
    weights = softmax(scores)
    return weights @ V, weights


def causal_mask(length):
    return np.tril(np.ones((length, length), dtype=bool))


def padding_mask(lengths, max_len):
    return (np.arange(max_len)[None, :] < np.asarray(lengths)[:, None])[:, None, :]


def split_heads(x, h):
    B, T, D = x.shape
    return x.reshape(B, T, h, D // h).transpose(0, 2, 1, 3)


def merge_heads(x):
    B, h, T, d = x.shape
    return x.transpose(0, 2, 1, 3).reshape(B, T, h * d)


def positional_encoding(max_len, d):
    angles = np.arange(max_len)[:, None] / 10000 ** (np.arange(0, d, 2) / d)
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1)
