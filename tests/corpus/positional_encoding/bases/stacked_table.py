import numpy as np


def sinusoidal(max_len, d):
    position = np.arange(max_len)[:, None]
    div_term = np.exp(np.arange(0, d, 2) * -(np.log(10000.0) / d))
    out = np.stack([np.sin(position * div_term), np.cos(position * div_term)], axis=-1)
    return out.reshape(max_len, d)


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
