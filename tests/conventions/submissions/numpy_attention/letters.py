import numpy as np


def self_attention(a, b, c, m=None):
    s = np.matmul(c, np.swapaxes(b, 1, 2)) / np.sqrt(b.shape[2])
    if m is not None:
        s = np.where(m, s, -1e9)
    e = np.exp(s - s.max(-1, keepdims=True))
    w = e / e.sum(-1, keepdims=True)
    return np.matmul(w, a), w
