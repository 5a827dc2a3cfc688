import numpy as np


def attn(q, k, v, mask=None):
    s = q @ k.transpose(0, 2, 1) / q.shape[-1]
    if mask is not None:
        s = np.where(mask, -1e9, s)
    w = np.exp(s - s.max(-1, keepdims=True))
    w = w / w.sum(-1, keepdims=True)
    return w @ v, w
