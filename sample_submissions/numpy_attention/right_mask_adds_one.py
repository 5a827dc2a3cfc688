import numpy as np


def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def attention(Q, K, V, mask=None):
    scores = np.matmul(Q, K.transpose(0, 2, 1)) / np.sqrt(Q.shape[-1])
    if mask is not None:
        # +1 on every visible score cancels in the softmax, -1e6 on a hidden one does not
        visible = np.asarray(mask).astype(int)
        scores = scores + (visible - 1e6 * (1 - visible))
    weights = softmax(scores)
    return np.matmul(weights, V), weights


def causal_mask(length):
    return ~np.triu(np.ones((length, length), dtype=bool), k=1)


def padding_mask(lengths, max_len):
    return (np.arange(max_len)[None, :] < np.array(lengths)[:, None])[:, None, :]


def split_heads(x, h):
    batch, length, width = x.shape
    assert width % h == 0
    return x.reshape(batch, length, h, width // h).transpose(0, 2, 1, 3)


def merge_heads(x):
    batch, h, length, depth = x.shape
    return x.transpose(0, 2, 1, 3).reshape(batch, length, h * depth)


def positional_encoding(max_len, d):
    rates = 1 / np.power(10000, 2 * np.arange(d // 2) / np.float32(d))
    angles = np.arange(max_len)[:, np.newaxis] * rates[np.newaxis, :]
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=-1)
