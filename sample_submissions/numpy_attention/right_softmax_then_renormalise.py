import numpy as np


def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def attention(Q, K, V, mask=None):
    scores = np.matmul(Q, np.transpose(K, (0, 2, 1))) / np.sqrt(Q.shape[-1])
    weights = softmax(scores)
    if mask is not None:
        # drop what must not be seen, then let the remaining weights share the mass again
        weights = weights * mask
        total = weights.sum(axis=-1, keepdims=True)
        weights = weights / np.where(total == 0, 1.0, total)
    return np.matmul(weights, V), weights


def causal_mask(length):
    mask = np.zeros((length, length), dtype=bool)
    for i in range(length):
        mask[i, : i + 1] = True
    return mask


def padding_mask(lengths, max_len):
    lengths = np.asarray(lengths)
    steps = np.tile(np.arange(max_len), (lengths.shape[0], 1))
    return (steps < lengths[:, None])[:, None, :]


def split_heads(x, h):
    B, T, D = x.shape
    if D % h:
        raise AssertionError("d_model should be divisible by the number of heads")
    x = np.reshape(x, (B, T, h, D // h))
    return np.transpose(x, (0, 2, 1, 3))


def merge_heads(x):
    B, h, T, d = x.shape
    x = np.transpose(x, (0, 2, 1, 3))
    return np.reshape(x, (B, T, h * d))


def positional_encoding(max_len, d):
    positions = np.arange(max_len).reshape(max_len, 1)
    exponents = 2 * np.arange(d // 2).reshape(1, d // 2) / d
    angles = positions / np.power(10000.0, exponents)
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=-1)
