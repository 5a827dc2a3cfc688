import numpy as np


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def attention(Q, K, V, block_size, mask=None):
    out = 0
    count = 0
    for start in range(0, K.shape[1], block_size):
        scores = Q @ K[:, start:start + block_size].transpose(0, 2, 1) / np.sqrt(Q.shape[-1])
        if mask is not None:
            scores = np.where(mask[..., start:start + block_size], scores, -1e9)
        out = out + softmax(scores) @ V[:, start:start + block_size]
        count += 1
    return out / count
