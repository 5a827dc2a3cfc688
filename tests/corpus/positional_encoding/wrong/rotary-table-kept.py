import numpy as np


def sinusoidal(max_len, d):
    position = np.arange(max_len)[:, None]
    div_term = np.exp(np.arange(0, d, 2) * -(np.log(10000.0) / d))
    out = np.stack([np.sin(position * div_term), np.cos(position * div_term)], axis=-1)
    return out.reshape(max_len, d)


_angles = {}


def rotary(x, positions):
    length, d = x.shape[-2:]
    if (length, d) not in _angles:  # computing sines is slow, do it once
        _angles[length, d] = positions[:, None] / 10000 ** (np.arange(0, d, 2) / d)
    theta = _angles[length, d]
    cos, sin = np.cos(theta), np.sin(theta)
    even, odd = x[..., 0::2], x[..., 1::2]
    return np.stack([even * cos - odd * sin, even * sin + odd * cos], axis=-1).reshape(x.shape)


def alibi_bias(num_heads, length):
    slopes = 2.0 ** (-8 * np.arange(1, num_heads + 1) / num_heads)
    distance = np.arange(length)[:, None] - np.arange(length)[None, :]
    return -slopes[:, None, None] * distance
