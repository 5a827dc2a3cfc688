import numpy as np


def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def attention(Q, K, V, mask=None):
    """One sentence: Q (n, d), K (m, d), V (m, dv)."""
    n, d = Q.shape
    scores = Q.dot(K.T) / np.sqrt(d)
    if mask is not None:
        scores[~mask] = -np.inf
    weights = softmax(scores)
    return weights.dot(V), weights
