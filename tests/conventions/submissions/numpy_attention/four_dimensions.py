import numpy as np


def scaled_dot_product_attention(q, k, v, mask=None):
    b, h, t, d = q.shape
    scores = np.matmul(q, k.transpose(0, 1, 3, 2)) / np.sqrt(d)
    if mask is not None:
        assert mask.shape == (b, h, t, k.shape[2])
        scores = scores * mask + (1.0 - mask) * -1e9
    scores = scores - scores.max(axis=-1, keepdims=True)
    w = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
    return np.matmul(w, v), w


def get_positional_encoding(seq_len, d_model):
    pe = np.zeros((seq_len, d_model))
    pos = np.arange(seq_len)[:, None]
    div = np.exp(np.arange(0, d_model, 2) * -(np.log(10000.0) / d_model))
    pe[:, 0::2] = np.sin(pos * div)
    pe[:, 1::2] = np.cos(pos * div)
    return pe
