import numpy as np


def attention(Q, K, V, block_size, mask=None):
    B, Tq, d = Q.shape
    Tk, dv = K.shape[1], V.shape[2]
    pad = -Tk % block_size
    K = np.pad(K, ((0, 0), (0, pad), (0, 0)))
    V = np.pad(V, ((0, 0), (0, pad), (0, 0)))
    if mask is not None:
        mask = np.pad(np.broadcast_to(mask, (B, Tq, Tk)), ((0, 0), (0, 0), (0, pad)), constant_values=True)
    m = np.full((B, Tq, 1), -np.inf)
    l = np.zeros((B, Tq, 1))
    acc = np.zeros((B, Tq, dv))
    for start in range(0, Tk + pad, block_size):
        end = start + block_size
        scores = Q @ K[:, start:end].transpose(0, 2, 1) / np.sqrt(d)
        if mask is not None:
            scores = np.where(mask[..., start:end], scores, -1e9)
        m_new = np.maximum(m, scores.max(axis=-1, keepdims=True))
        alpha = np.exp(m - m_new)
        p = np.exp(scores - m_new)
        l = l * alpha + p.sum(axis=-1, keepdims=True)
        acc = acc * alpha + p @ V[:, start:end]
        m = m_new
    return acc / l
