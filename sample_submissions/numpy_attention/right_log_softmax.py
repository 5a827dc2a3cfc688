"""Everything in log space: weights = exp(logits - logsumexp(logits))."""
import numpy as np


def logsumexp(x, axis):
    top = x.max(axis=axis, keepdims=True)
    return top + np.log(np.exp(x - top).sum(axis=axis, keepdims=True))


def log_softmax(x, axis=-1):
    top = x.max(axis=axis, keepdims=True)
    shifted = x - top
    return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))


def softmax(x, axis=-1):
    return np.exp(log_softmax(x, axis=axis))


def attention(Q, K, V, mask=None):
    d_k = K.shape[-1]
    log_weights = np.matmul(Q, K.transpose([0, 2, 1])) / np.sqrt(d_k)
    if mask is not None:
        log_weights = np.where(mask, log_weights, -1e9)
    weights = np.exp(log_softmax(log_weights))
    return np.matmul(weights, V), weights


def causal_mask(length):
    return np.greater_equal.outer(np.arange(length), np.arange(length))


def padding_mask(lengths, max_len):
    return np.greater.outer(np.asarray(lengths), np.arange(max_len))[:, np.newaxis]


def split_heads(x, h):
    batch, length, dim = x.shape
    head_dim = dim // h
    if head_dim * h != dim:
        raise ValueError("embedding dimension %d cannot be split into %d heads" % (dim, h))
    return x.reshape((batch, length, h, head_dim)).transpose((0, 2, 1, 3))


def merge_heads(x):
    batch, h, length, head_dim = x.shape
    return x.transpose((0, 2, 1, 3)).reshape((batch, length, h * head_dim))


def positional_encoding(max_len, d):
    log_timescale = np.log(10000.0) / d
    angles = np.arange(max_len)[:, None] * np.exp(-log_timescale * np.arange(0, d, 2))[None]
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1)
