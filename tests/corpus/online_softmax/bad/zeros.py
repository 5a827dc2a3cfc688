import numpy as np


def attention(Q, K, V, block_size, mask=None):
    return np.zeros(Q.shape[:2] + V.shape[2:])
