import numpy as np


def attention(Q, K, V, block_size, mask=None):
    B, Tq, d = Q.shape
    Tk = K.shape[1]
    out = np.empty((B, Tq, V.shape[2]))
    if mask is not None:
        mask = np.broadcast_to(mask, (B, Tq, Tk))
    for q0 in range(0, Tq, block_size):
        q = Q[:, q0:q0 + block_size] * (d ** -0.5)
        m = np.full(q.shape[:2], -1e30)
        l = np.zeros(q.shape[:2])
        o = np.zeros((*q.shape[:2], V.shape[2]))
        for k0 in range(0, Tk, block_size):
            s = q @ K[:, k0:k0 + block_size].swapaxes(1, 2)
            if mask is not None:
                s = np.where(mask[:, q0:q0 + block_size, k0:k0 + block_size], s, -1e29)
            m2 = np.maximum(m, s.max(2))
            p = np.exp(s - m2[:, :, None])
            c = np.exp(m - m2)
            l = c * l + p.sum(2)
            o = c[:, :, None] * o + p @ V[:, k0:k0 + block_size]
            m = m2
        out[:, q0:q0 + block_size] = o / l[:, :, None]
    return out
