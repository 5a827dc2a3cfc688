from typing import NamedTuple
import numpy as np


class AttentionResult(NamedTuple):
    output: np.ndarray
    weights: np.ndarray


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / (e.sum(axis=axis, keepdims=True) + 1e-12)


def attention(Q, K, V, mask=None):
    logits = np.einsum('bid,bjd->bij', Q, K, optimize=True) / np.sqrt(Q.shape[-1])
    if mask is not None:
        logits = logits + np.where(mask, 0.0, -1e9)
    probs = softmax(logits)
    return AttentionResult(output=probs @ V, weights=probs)


def causal_mask(length):
    return np.tril(np.ones((length, length), dtype='bool'))


def padding_mask(lengths, max_len):
    return np.vstack([np.arange(max_len) < n for n in lengths])[:, None, :]


def split_heads(x, h):
    B, T, D = x.shape
    assert D % h == 0, 'heads must divide the model size'
    return x.reshape(B, T, h, -1).transpose(0, 2, 1, 3)


def merge_heads(x):
    B, _, T, _ = x.shape
    return x.transpose(0, 2, 1, 3).reshape(B, T, -1)


def positional_encoding(max_len, d):
    pos, i = np.mgrid[0:max_len, 0:d // 2]
    ang = pos / 10000. ** (2 * i / d)
    return np.concatenate([np.sin(ang), np.cos(ang)], 1)
