import numpy as np


def attention(Q, K, V, block_size, mask=None):
    B, Tq, d = Q.shape
    Tk, dv = K.shape[1], V.shape[2]
    m = np.full((B, Tq, 1), -np.inf)
    l = np.zeros((B, Tq, 1))
    acc = np.zeros((B, Tq, dv))
    for start in range(0, Tk, block_size):
        end = min(start + block_size, Tk)
        scores = Q @ K[:, start:end].transpose(0, 2, 1)
        if mask is not None:
            scores = np.where(mask[..., start:end], scores, -1e9)
        m_new = np.maximum(m, scores.max(axis=-1, keepdims=True))
        alpha = np.exp(m - m_new)
        p = np.exp(scores - m_new)
        l = l * alpha + p.sum(axis=-1, keepdims=True)
        acc = acc * alpha + p @ V[:, start:end]
        m = m_new
    return acc / l
