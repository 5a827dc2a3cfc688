import numpy as np


def rotate_half(x):
    x1, x2 = np.split(x, 2, axis=-1)
    return np.concatenate((-x2, x1), axis=-1)


def rotary(x, positions):
    d = x.shape[-1]
    inv_freq = 1.0 / (10000 ** (np.arange(0, d, 2) / d))
    freqs = np.einsum("t,f->tf", positions, inv_freq)
    emb = np.concatenate((freqs, freqs), axis=-1)
    return x * np.cos(emb) + rotate_half(x) * np.sin(emb)


def sinusoidal(max_len, d):
    i = np.arange(d)
    angles = np.arange(max_len)[:, None] / np.power(10000, 2 * (i // 2) / d)[None, :]
    return np.where(i % 2 == 0, np.sin(angles), np.cos(angles))


def alibi_bias(num_heads, length):
    m = (2.0 ** (-8.0 / num_heads)) ** np.arange(1, num_heads + 1)
    dist = np.abs(np.arange(length)[:, None] - np.arange(length))
    return -np.einsum("h,ij->hij", m, dist)
