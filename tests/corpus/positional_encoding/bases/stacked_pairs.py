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
    return np.stack([even * cos - odd * sin, even * sin + odd * cos], axis=-1).reshape(x.shape)


def get_slopes(n):
    start = 2 ** (-8 / n)
    return np.array([start ** (i + 1) for i in range(n)])


def alibi_bias(num_heads, length):
    pos = np.arange(length)
    return get_slopes(num_heads)[:, None, None] * (pos[None, :] - pos[:, None])
