import numpy as np


def softmax(x, axis=-1):
    m = np.max(x, axis=axis, keepdims=True)
    m = np.where(np.isfinite(m), m, 0.0)      # a slice of nothing but -inf
    e = np.exp(x - m)
    s = np.sum(e, axis=axis, keepdims=True)
    return np.divide(e, s, out=np.zeros_like(e), where=s > 0)


def attention(Q, K, V, mask=None):
    """softmax(Q K^T / sqrt(d)) V; rows without any visible key come back as zeros."""
    scores = (Q @ K.swapaxes(1, 2)) / np.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return weights @ V, weights


def causal_mask(length):
    idx = np.arange(length)
    return idx[:, None] >= idx[None, :]


def padding_mask(lengths, max_len):
    lengths = np.asarray(lengths)
    mask = np.less(np.arange(max_len)[None, :], lengths[:, None])
    return np.expand_dims(mask, 1)


def split_heads(x, h):
    return np.stack(np.split(x, h, axis=-1), axis=1)


def merge_heads(x):
    return np.concatenate([x[:, i] for i in range(x.shape[1])], axis=-1)


def positional_encoding(max_len, d):
    k = np.arange(d // 2)
    omega = np.exp(-np.log(10000.0) * 2 * k / d)
    theta = np.arange(max_len)[:, None] * omega
    return np.concatenate([np.sin(theta), np.cos(theta)], 1)
