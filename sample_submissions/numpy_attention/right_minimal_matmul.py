import numpy as np

def softmax(x, axis=-1):
    z = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return z / np.sum(z, axis=axis, keepdims=True)

def attention(Q, K, V, mask=None):
    s = np.matmul(Q, np.swapaxes(K, -1, -2)) / np.sqrt(K.shape[-1])
    if mask is not None:
        s = np.where(mask, s, -1e9)
    w = softmax(s)
    return np.matmul(w, V), w

def causal_mask(length):
    return np.tril(np.ones((length, length))).astype(bool)

def padding_mask(lengths, max_len):
    lengths = np.array(lengths)
    return (np.arange(max_len) < lengths[:, None])[:, None, :]

def split_heads(x, h):
    b, t, d = x.shape
    assert d % h == 0
    return np.swapaxes(x.reshape(b, t, h, d // h), 1, 2)

def merge_heads(x):
    b, h, t, d = x.shape
    return np.swapaxes(x, 1, 2).reshape(b, t, h * d)

def positional_encoding(max_len, d):
    angle = np.outer(np.arange(max_len), 10000.0 ** (-np.arange(0, d, 2) / d))
    return np.hstack([np.sin(angle), np.cos(angle)])
