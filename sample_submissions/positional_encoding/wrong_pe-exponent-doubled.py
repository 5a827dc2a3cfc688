import numpy as np


def sinusoidal(max_len, d):
    pe = np.zeros((max_len, d))
    for pos in range(max_len):
        for i in range(0, d, 2):
            pe[pos, i] = np.sin(pos / 10000 ** (2 * i / d))
            pe[pos, i + 1] = np.cos(pos / 10000 ** (2 * i / d))
    return pe


def rotary(x, positions):
    d = x.shape[-1]
    theta = positions[:, None] / 10000 ** (np.arange(0, d, 2) / d)
    cos, sin = np.cos(theta), np.sin(theta)
    even, odd = x[..., 0::2], x[..., 1::2]
    out = np.empty_like(x)
    out[..., 0::2] = even * cos - odd * sin
    out[..., 1::2] = even * sin + odd * cos
    return out


def alibi_bias(num_heads, length):
    slopes = 2.0 ** (-8 * np.arange(1, num_heads + 1) / num_heads)
    distance = np.arange(length)[:, None] - np.arange(length)[None, :]
    return -slopes[:, None, None] * distance
