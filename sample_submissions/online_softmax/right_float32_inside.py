import numpy as np


def attention(Q, K, V, block_size, mask=None):
    Q, K, V = (a.astype(np.float32) for a in (Q, K, V))
    m = l = o = None
    for j in range(0, K.shape[1], block_size):
        s = (Q @ K[:, j:j + block_size].transpose(0, 2, 1)) * np.float32(Q.shape[-1] ** -0.5)
        if mask is not None:
            s = np.where(mask[..., j:j + block_size], s, np.float32(-1e30))
        bm = s.max(-1, keepdims=True)
        p = np.exp(s - bm)
        bl, bo = p.sum(-1, keepdims=True), p @ V[:, j:j + block_size]
        if m is None:
            m, l, o = bm, bl, bo
        else:
            n = np.maximum(m, bm)
            l, o = np.exp(m - n) * l + np.exp(bm - n) * bl, np.exp(m - n) * o + np.exp(bm - n) * bo
            m = n
    return o / l
