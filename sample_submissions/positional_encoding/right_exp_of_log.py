import numpy as np


def _div_term(d):
    return np.exp(np.arange(0, d, 2) * -(np.log(10000.0) / d))


def sinusoidal(max_len, d):
    position = np.arange(max_len)[:, np.newaxis]
    pe = np.zeros((max_len, d))
    pe[:, 0::2] = np.sin(position * _div_term(d))
    pe[:, 1::2] = np.cos(position * _div_term(d))
    return pe


def rotary(x, positions):
    angles = np.asarray(positions)[:, None] * _div_term(x.shape[-1])
    sin, cos = np.repeat(np.sin(angles), 2, axis=-1), np.repeat(np.cos(angles), 2, axis=-1)
    swapped = np.stack([-x[..., 1::2], x[..., ::2]], axis=-1).reshape(x.shape)
    return x * cos + swapped * sin


def alibi_bias(num_heads, length):
    start = 2 ** (-8 / num_heads)
    slopes = np.array([start * start ** i for i in range(num_heads)])
    relative = np.arange(length)[None, :] - np.arange(length)[:, None]
    return slopes[:, None, None] * np.minimum(relative, 0)
