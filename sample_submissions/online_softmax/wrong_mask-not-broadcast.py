import numpy as np


def attention(Q, K, V, block_size, mask=None):
    scale = 1.0 / np.sqrt(Q.shape[-1])
    running_max = np.full(Q.shape[:2], -np.inf)
    running_sum = np.zeros(Q.shape[:2])
    out = np.zeros(Q.shape[:2] + (V.shape[-1],))
    for j in range(0, K.shape[1], block_size):
        s = np.einsum("bqd,bkd->bqk", Q, K[:, j:j + block_size]) * scale
        if mask is not None:
            s[~mask[:, :, j:j + block_size]] = -np.inf
        new_max = np.maximum(running_max, s.max(-1))
        safe = np.where(np.isneginf(new_max), 0.0, new_max)
        p = np.exp(s - safe[..., None])
        correction = np.exp(running_max - safe)
        running_sum = correction * running_sum + p.sum(-1)
        out = correction[..., None] * out + np.einsum("bqk,bkv->bqv", p, V[:, j:j + block_size])
        running_max = new_max
    return out / np.maximum(running_sum, 1e-300)[..., None]
