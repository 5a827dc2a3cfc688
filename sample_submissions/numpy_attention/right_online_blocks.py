"""Attention block by block over the keys, flash-attention style.

The brief also wants the weights, so the running maximum and sum are used once more at the end.
"""
import numpy as np

BLOCK = 3
NEG = -1e30


def softmax(x, axis=-1):
    x = x - np.max(x, axis=axis, keepdims=True)
    e = np.exp(x)
    return e / np.sum(e, axis=axis, keepdims=True)


def _block_scores(q, k, mask):
    s = q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1])
    return s if mask is None else np.where(mask, s, NEG)


def attention(Q, K, V, mask=None):
    B, Tq, _ = Q.shape
    Tk = K.shape[1]
    if mask is not None:
        mask = np.broadcast_to(mask, (B, Tq, Tk))

    running_max = np.full((B, Tq, 1), -np.inf)
    running_sum = np.zeros((B, Tq, 1))
    acc = np.zeros((B, Tq, V.shape[-1]))
    blocks = [slice(start, min(start + BLOCK, Tk)) for start in range(0, Tk, BLOCK)]

    for block in blocks:
        s = _block_scores(Q, K[:, block], None if mask is None else mask[:, :, block])
        new_max = np.maximum(running_max, s.max(-1, keepdims=True))
        correction = np.exp(running_max - new_max)
        p = np.exp(s - new_max)
        running_sum = running_sum * correction + p.sum(-1, keepdims=True)
        acc = acc * correction + p @ V[:, block]
        running_max = new_max

    weights = np.empty((B, Tq, Tk))
    for block in blocks:
        s = _block_scores(Q, K[:, block], None if mask is None else mask[:, :, block])
        weights[:, :, block] = np.exp(s - running_max) / running_sum
    return acc / running_sum, weights


def causal_mask(length):
    return np.tril(np.ones((length, length), dtype=bool))


def padding_mask(lengths, max_len):
    return (np.arange(max_len)[None, :] < np.asarray(lengths)[:, None])[:, None, :]


def split_heads(x, h):
    B, T, D = x.shape
    if D % h != 0:
        raise ValueError("D must be divisible by h")
    return x.reshape(B, T, h, D // h).transpose(0, 2, 1, 3)


def merge_heads(x):
    return x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)


def positional_encoding(max_len, d):
    angle = np.arange(max_len)[:, None] / 10000 ** (2 * np.arange(d // 2)[None, :] / d)
    return np.concatenate([np.sin(angle), np.cos(angle)], axis=1)
