import numpy as np


def softmax(x, axis=-1):
    dtype = x.dtype
    x = x.astype(np.float64)
    x = np.exp(x - x.max(axis=axis, keepdims=True))
    return (x / x.sum(axis=axis, keepdims=True)).astype(dtype)


def attention(Q, K, V, mask=None):
    # accumulate in double precision, hand back what came in
    dtype = np.result_type(Q, K, V)
    q, k, v = (a.astype(np.float64) for a in (Q, K, V))
    scores = np.matmul(q, k.transpose(0, 2, 1))
    scores = scores / np.sqrt(q.shape[2])
    if mask is not None:
        scores[~np.broadcast_to(mask, scores.shape)] = -1e300
    weights = softmax(scores)
    out = np.matmul(weights, v)
    return out.astype(dtype), weights.astype(dtype)


def causal_mask(length):
    mask = np.ones((length, length), dtype=np.bool_)
    mask[np.triu_indices(length, 1)] = False
    return mask


def padding_mask(lengths, max_len):
    mask = np.stack([np.arange(max_len) < n for n in lengths])
    return mask[:, None, :]


def split_heads(x, h):
    if x.shape[2] % h != 0:
        raise ValueError("hidden size is not a multiple of the head count")
    size = x.shape[2] // h
    return np.array([x[:, :, i * size : (i + 1) * size] for i in range(h)]).transpose(1, 0, 2, 3)


def merge_heads(x):
    return np.concatenate(list(np.swapaxes(x, 0, 1)), axis=2)


def positional_encoding(max_len, d):
    table = np.zeros((max_len, d), dtype=np.float64)
    for i in range(d // 2):
        wavelength = 10000.0 ** (2.0 * i / d)
        table[:, i] = np.sin(np.arange(max_len) / wavelength)
        table[:, i + d // 2] = np.cos(np.arange(max_len) / wavelength)
    return table
