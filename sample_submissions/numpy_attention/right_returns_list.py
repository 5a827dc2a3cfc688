import numpy as np


def softmax(x, axis=-1):
    z = np.asarray(x)
    z = z - z.max(axis=axis, keepdims=True)
    z = np.exp(z)
    return z / z.sum(axis=axis, keepdims=True)


def attention(Q, K, V, mask=None):
    out, weights = [], []
    for b in range(len(Q)):
        m = None
        if mask is not None:
            m = mask if mask.ndim == 2 else mask[b]
        s = Q[b] @ K[b].T / np.sqrt(Q.shape[-1])
        if m is not None:
            s = np.where(m, s, -1e9)
        w = softmax(s, axis=1)
        weights.append(w)
        out.append(w @ V[b])
    return [np.stack(out), np.stack(weights)]


def causal_mask(length):
    return np.array([[j <= i for j in range(length)] for i in range(length)])


def padding_mask(lengths, max_len):
    return np.array([[[j < n for j in range(max_len)]] for n in lengths])


def split_heads(x, h):
    if x.shape[-1] % h:
        raise ValueError("can't split evenly")
    return np.stack(np.array_split(x, h, axis=-1), axis=1)


def merge_heads(x):
    return np.concatenate(np.unstack(x, axis=1), axis=-1)


def positional_encoding(max_len, d):
    i = np.arange(d // 2)
    table = [np.concatenate([np.sin(p / 10000 ** (2 * i / d)), np.cos(p / 10000 ** (2 * i / d))]) for p in range(max_len)]
    return np.array(table)
