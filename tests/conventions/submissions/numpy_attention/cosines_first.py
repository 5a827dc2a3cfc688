import numpy as np


def scaled_dot_attention(Q, K, V, attn_bias=None):
    S = Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-1])
    if attn_bias is not None:
        S = S + attn_bias
    E = np.exp(S - S.max(axis=-1, keepdims=True))
    W = E / E.sum(axis=-1, keepdims=True)
    return W @ V, W


def sinusoidal_encoding(length, dim):
    angles = np.arange(length)[:, None] * 10000.0 ** (-2.0 * np.arange(dim // 2) / dim)
    return np.concatenate([np.cos(angles), np.sin(angles)], axis=1)
