import numpy as np


def attention(Q, K, V, block_size, mask=None):
    d = Q.shape[-1]
    top = np.full(Q.shape[:2] + (1,), -1e300)
    den = np.zeros_like(top)
    num = np.zeros(Q.shape[:2] + V.shape[2:])
    j = 0
    while j < K.shape[1]:
        k, v = K[:, j:j + block_size], V[:, j:j + block_size]
        s = np.matmul(Q, k.transpose(0, 2, 1)) / np.sqrt(d)
        keep = np.ones_like(s) if mask is None else np.broadcast_to(mask[..., j:j + block_size], s.shape)
        # blocked keys are left out by multiplying their exponentials with 0
        new = np.maximum(top, np.where(keep > 0, s, -1e300).max(-1, keepdims=True))
        e = np.exp(np.minimum(s - new, 0)) * keep
        den = den * np.exp(top - new) + e.sum(-1, keepdims=True)
        num = num * np.exp(top - new) + e @ v
        top = new
        j += block_size
    return (num / np.where(den == 0, 1, den)).tolist()
