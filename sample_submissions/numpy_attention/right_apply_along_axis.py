import numpy as np


def _softmax_1d(v):
    e = np.exp(v - v.max())
    return e / e.sum()


def softmax(x, axis=-1):
    return np.apply_along_axis(_softmax_1d, axis, x)


def attention(Q, K, V, mask=None):
    scores = np.array([q.dot(k.T) for q, k in zip(Q, K)]) / np.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.ma.array(scores, mask=~np.broadcast_to(mask, scores.shape)).filled(-1e9)
    weights = softmax(scores, -1)
    out = np.array([w.dot(v) for w, v in zip(weights, V)])
    return out, weights


def causal_mask(length):
    return np.fromfunction(lambda i, j: j <= i, (length, length))


def padding_mask(lengths, max_len):
    rows = [[True] * int(n) + [False] * (max_len - int(n)) for n in lengths]
    return np.array(rows, dtype=bool).reshape(len(rows), 1, max_len)


def split_heads(x, h):
    heads = np.split(x, h, axis=2)          # np.split raises if D is not a multiple of h
    return np.concatenate([head[:, None] for head in heads], axis=1)


def merge_heads(x):
    return np.dstack([x[:, i] for i in range(x.shape[1])])


def positional_encoding(max_len, d):
    rows = []
    for pos in range(max_len):
        angles = [pos / 10000 ** (2 * i / d) for i in range(d // 2)]
        rows.append(np.append(np.sin(angles), np.cos(angles)))
    return np.array(rows)
