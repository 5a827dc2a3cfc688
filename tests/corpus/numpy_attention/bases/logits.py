import numpy as np


def softmax(x, axis=-1):
    z = np.exp(x - np.amax(x, axis, keepdims=True))
    return z / z.sum(axis, keepdims=True)


def attention(Q, K, V, mask=None):
    logits = np.einsum('bqd,bkd->bqk', Q, K) * Q.shape[-1] ** -0.5
    if mask is not None:
        logits = np.where(mask, logits, -1e9)
    attn = softmax(logits)
    return np.einsum('bqk,bkv->bqv', attn, V), attn


def causal_mask(length):
    return np.tri(length, dtype=bool)


def padding_mask(lengths, max_len):
    lengths = np.asarray(lengths)
    return np.arange(max_len)[None, None] < lengths.reshape(-1, 1, 1)


def split_heads(x, h):
    b, t, d = x.shape
    if d % h:
        raise ValueError(f'{d} % {h} != 0')
    return np.einsum('bthd->bhtd', x.reshape(b, t, h, d // h))


def merge_heads(x):
    b, h, t, d = x.shape
    return np.einsum('bhtd->bthd', x).reshape(b, t, h * d)


def positional_encoding(max_len, d):
    inv_freq = 1.0 / 10000 ** (np.arange(0, d, 2) / d)
    phase = np.outer(np.arange(max_len), inv_freq)
    return np.concatenate([np.sin(phase), np.cos(phase)], axis=-1)
