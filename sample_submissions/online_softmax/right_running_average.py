import numpy as np


def attention(Q, K, V, block_size, mask=None):
    """Key by key inside a block: the classic online softmax of one row, vectorised over rows."""
    scale = Q.shape[-1] ** -0.5
    m = np.full(Q.shape[:2], -np.inf)
    d = np.zeros(Q.shape[:2])
    o = np.zeros(Q.shape[:2] + (V.shape[-1],))
    full = None if mask is None else np.broadcast_to(mask, (len(Q), Q.shape[1], K.shape[1]))
    for start in range(0, K.shape[1], block_size):
        scores = Q @ K[:, start:start + block_size].transpose(0, 2, 1) * scale
        for i in range(scores.shape[-1]):
            s = scores[..., i]
            if full is not None:
                s = np.where(full[..., start + i], s, -1e9)
            new = np.maximum(m, s)
            f, e = np.exp(m - new), np.exp(s - new)
            d = d * f + e
            o = o * f[..., None] + e[..., None] * V[:, start + i, None, :]
            m = new
    return o / d[..., None]
