import numpy as np


def attention(Q, K, V, block_size, mask=None):
    scores = Q @ K.transpose(0, 2, 1) / np.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -1e9)
    m = np.full(Q.shape[:2] + (1,), -np.inf)
    l = np.zeros_like(m)
    out = np.zeros(Q.shape[:2] + (V.shape[-1],))
    for start in range(0, K.shape[1], block_size):
        block = scores[..., start:start + block_size]
        m_new = np.maximum(m, block.max(axis=-1, keepdims=True))
        p = np.exp(block - m_new)
        l = l * np.exp(m - m_new) + p.sum(axis=-1, keepdims=True)
        out = out * np.exp(m - m_new) + p @ V[:, start:start + block_size]
        m = m_new
    return out / l
