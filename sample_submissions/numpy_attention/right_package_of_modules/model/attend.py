import numpy as np

from .masks import hide


def softmax(x, axis=-1):
    exps = np.exp(x - x.max(axis=axis, keepdims=True))
    return exps / exps.sum(axis=axis, keepdims=True)


def attention(Q, K, V, mask=None):
    scores = Q @ K.swapaxes(-2, -1) / np.sqrt(K.shape[-1])
    weights = softmax(hide(scores, mask))
    return weights @ V, weights
