import numpy as np


def sinusoidal(max_len, d):
    position = np.arange(max_len)[:, None]
    div_term = np.exp(np.arange(0, d, 2) * -(np.log(10000.0) / d))
    out = np.stack([np.sin(position * div_term), np.cos(position * div_term)], axis=-1)
    return out.reshape(max_len, d)


def rotate_half(x):
    a, b = np.split(x, 2, axis=-1)
    return np.concatenate([-b, a], axis=-1)


def rotary(x, positions):
    d = x.shape[-1]
    freqs = np.outer(positions, 1.0 / 10000 ** (np.arange(0, d, 2) / d))
    emb = np.concatenate([freqs, freqs], axis=-1)
    return x * np.cos(emb) + rotate_half(x) * np.sin(emb)


def alibi_bias(num_heads, length):
    slopes = np.linspace(1, 1 / num_heads, num_heads)
    distance = np.arange(length)[:, None] - np.arange(length)[None, :]
    return -slopes[:, None, None] * distance
