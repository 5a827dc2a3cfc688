import numpy as np


def attention(Q, K, V, mask=None):
    out = np.zeros((Q.shape[0], Q.shape[1], V.shape[2]))
    weights = np.zeros((Q.shape[0], Q.shape[1], K.shape[1]))
    for b in range(Q.shape[0]):
        for i in range(Q.shape[1]):
            s = K[b] @ Q[b, i] / np.sqrt(Q.shape[2])
            if mask is not None:
                for j in range(K.shape[1]):
                    if not mask[i][j]:
                        s[j] = -1e9
            e = np.exp(s - s.max())
            weights[b, i] = e / e.sum()
            out[b, i] = weights[b, i] @ V[b]
    return out, weights
