import numpy as np


def attention(q, k, v, mask=None):
    """q: (T, B, D), k, v: (S, B, D), as in nn.MultiheadAttention."""
    s = np.einsum("tbd,sbd->bts", q, k) / np.sqrt(q.shape[-1])
    if mask is not None:
        s = np.where(mask, -1e9, s)
    w = np.exp(s - s.max(-1, keepdims=True))
    w /= w.sum(-1, keepdims=True)
    return np.einsum("bts,sbd->tbd", w, v), w
