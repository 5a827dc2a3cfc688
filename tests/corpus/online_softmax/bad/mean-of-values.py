import numpy as np


def attention(Q, K, V, block_size, mask=None):
    return np.repeat(V.mean(axis=1, keepdims=True), Q.shape[1], axis=1)
