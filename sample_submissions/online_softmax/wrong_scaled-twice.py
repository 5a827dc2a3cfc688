import numpy as np


def _one(q, k, v, size, allowed):
    top = np.full(len(q), -np.inf)
    den = np.zeros(len(q))
    num = np.zeros((len(q), v.shape[1]))
    for s in range(0, len(k), size):
        x = q @ k[s:s + size].T / np.sqrt(q.shape[1])
        if allowed is not None:
            x = np.where(allowed[:, s:s + size], x, -1e18)
        new = np.maximum(top, x.max(1))
        e = np.exp(x - new[:, None])
        shrink = np.exp(top - new)
        den = den * shrink + e.sum(1)
        num = num * shrink[:, None] + e @ v[s:s + size]
        top = new
    return num / den[:, None]


def attention(Q, K, V, block_size, mask=None):
    Q = Q / np.sqrt(Q.shape[-1])
    results = []
    for b in range(len(Q)):
        allowed = None
        if mask is not None:
            allowed = np.broadcast_to(mask if mask.ndim == 2 else mask[b], (Q.shape[1], K.shape[1]))
        results.append(_one(Q[b], K[b], V[b], block_size, allowed))
    return np.stack(results)
