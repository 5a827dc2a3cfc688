from math import ceil, sqrt

import numpy as np


def attention(Q, K, V, block_size, mask=None):
    cuts = list(range(block_size, K.shape[1], block_size))
    k_blocks, v_blocks = np.split(K, cuts, axis=1), np.split(V, cuts, axis=1)
    masks = [None] * len(k_blocks) if mask is None else np.split(mask, cuts, axis=-1)
    assert len(k_blocks) == ceil(K.shape[1] / block_size)
    top, bottom, out = -np.inf, 0.0, 0.0
    for k, v, allowed in zip(k_blocks, v_blocks, masks):
        s = np.matmul(Q, np.moveaxis(k, 1, 2)) / sqrt(Q.shape[2])
        if allowed is not None:
            s = np.where(allowed, s, -1e10)
        peak = np.maximum(top, np.amax(s, axis=2, keepdims=True))
        e = np.exp(s - peak)
        fade = np.exp(top - peak)
        bottom, out, top = bottom * fade + e.sum(2, keepdims=True), out * fade + e @ v, peak
    return np.divide(out, bottom)
