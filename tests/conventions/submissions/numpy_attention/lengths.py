import numpy as np


def masked_softmax(X, valid_lens):
    if valid_lens is not None:
        keep = np.arange(X.shape[-1])[None, None, :] < valid_lens[:, None, None]
        X = np.where(keep, X, -1e6)
    X = np.exp(X - X.max(-1, keepdims=True))
    return X / X.sum(-1, keepdims=True)


def attention(queries, keys, values, valid_lens=None):
    d = queries.shape[-1]
    scores = queries @ keys.transpose(0, 2, 1) / np.sqrt(d)
    weights = masked_softmax(scores, valid_lens)
    return weights @ values, weights
