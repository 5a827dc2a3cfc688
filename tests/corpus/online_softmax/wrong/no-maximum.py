import numpy as np


def attention(Q, K, V, block_size, mask=None):
    total = np.zeros(Q.shape[:2] + (1,))
    out = np.zeros(Q.shape[:2] + (V.shape[-1],))
    for start in range(0, K.shape[1], block_size):
        scores = Q @ K[:, start:start + block_size].transpose(0, 2, 1) / np.sqrt(Q.shape[-1])
        p = np.exp(scores)
        if mask is not None:
            p = np.where(mask[..., start:start + block_size], p, 0)
        total += p.sum(axis=-1, keepdims=True)
        out += p @ V[:, start:start + block_size]
    return out / np.where(total == 0, 1, total)
