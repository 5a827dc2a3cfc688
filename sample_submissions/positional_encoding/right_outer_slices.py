import numpy as np


def sinusoidal(max_len, d):
    pos = np.arange(max_len)
    freq = 1 / 10000 ** (np.arange(0, d, 2) / d)
    table = np.empty((max_len, d))
    table[:, 0::2] = np.sin(np.outer(pos, freq))
    table[:, 1::2] = np.cos(np.outer(pos, freq))
    return table


def rotary(x, positions):
    d = x.shape[-1]
    theta = np.outer(positions, 1 / 10000 ** (np.arange(0, d, 2) / d))
    out = np.empty_like(x)
    out[..., 0::2] = x[..., 0::2] * np.cos(theta) - x[..., 1::2] * np.sin(theta)
    out[..., 1::2] = x[..., 0::2] * np.sin(theta) + x[..., 1::2] * np.cos(theta)
    return out


def alibi_bias(num_heads, length):
    slopes = 2.0 ** (-8 * np.arange(1, num_heads + 1) / num_heads)
    distance = np.arange(length)[:, None] - np.arange(length)[None, :]
    return -slopes[:, None, None] * distance
