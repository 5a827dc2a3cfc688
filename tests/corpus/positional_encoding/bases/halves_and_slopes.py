import numpy as np


def sinusoidal(max_len, d):
    pos = np.arange(max_len)[:, None]
    angles = pos / np.power(10000, 2 * np.arange(d // 2)[None, :] / d)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(max_len, d)


def rotate_half(x):
    a, b = np.split(x, 2, axis=-1)
    return np.concatenate([-b, a], axis=-1)


def rotary(x, positions):
    d = x.shape[-1]
    freqs = np.outer(positions, 1.0 / 10000 ** (np.arange(0, d, 2) / d))
    emb = np.concatenate([freqs, freqs], axis=-1)
    return x * np.cos(emb) + rotate_half(x) * np.sin(emb)


def get_slopes(n):
    start = 2 ** (-8 / n)
    return np.array([start ** (i + 1) for i in range(n)])


def alibi_bias(num_heads, length):
    pos = np.arange(length)
    return get_slopes(num_heads)[:, None, None] * (pos[None, :] - pos[:, None])
