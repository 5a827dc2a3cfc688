import numpy as np


def attention(*, key, value, query, key_mask=None):
    scores = query @ key.transpose(0, 2, 1) / key.shape[-1] ** 0.5
    if key_mask is not None:
        assert key_mask.ndim == 2
        scores = np.where(key_mask[:, None, :] > 0, scores, -1e9)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights = weights / weights.sum(-1, keepdims=True)
    return weights @ value, weights
