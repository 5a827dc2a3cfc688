import numpy as np

F32 = np.float32


def softmax(x, axis=-1):
    x = np.asarray(x, F32)
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True, dtype=F32)


def attention(Q, K, V, mask=None):
    """Single precision throughout, as a GPU would do it."""
    Q, K, V = Q.astype(F32), K.astype(F32), V.astype(F32)
    scores = (Q @ K.swapaxes(1, 2)) * F32(Q.shape[-1] ** -0.5)
    if mask is not None:
        scores = np.where(mask, scores, F32(-1e20))
    weights = softmax(scores)
    return weights @ V, weights


def causal_mask(length):
    return np.tri(length, dtype=bool)


def padding_mask(lengths, max_len):
    return np.arange(max_len)[None, None, :] < np.asarray(lengths).reshape(-1, 1, 1)


def split_heads(x, h):
    if x.shape[-1] % h:
        raise ValueError("h must divide the number of features")
    return np.stack(np.split(x, h, axis=-1), axis=1)


def merge_heads(x):
    return np.concatenate(np.moveaxis(x, 1, 0), axis=-1)


def positional_encoding(max_len, d):
    angle = np.arange(max_len, dtype=F32)[:, None] / F32(10000) ** (np.arange(0, d, 2, dtype=F32) / F32(d))
    return np.concatenate([np.sin(angle), np.cos(angle)], axis=1)
