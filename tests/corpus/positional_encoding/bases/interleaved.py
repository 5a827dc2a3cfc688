import numpy as np


def sinusoidal(max_len, d):
    pos = np.arange(max_len)[:, None]
    i = np.arange(d // 2)[None, :]
    ang = pos / np.power(10000, 2 * i / d)
    pe = np.zeros((max_len, d))
    pe[:, 0::2] = np.sin(ang)
    pe[:, 1::2] = np.cos(ang)
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
