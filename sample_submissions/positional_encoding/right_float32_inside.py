import numpy as np


def sinusoidal(max_len, d):
    pos = np.arange(max_len, dtype=np.float32)[:, None]
    freq = np.float32(10000) ** (-np.arange(0, d, 2, dtype=np.float32) / d)
    angle = pos * freq
    return np.stack((np.sin(angle), np.cos(angle)), axis=2).reshape(max_len, d)


def rotary(x, positions):
    d = x.shape[-1]
    freq = np.float32(10000) ** (-np.arange(0, d, 2, dtype=np.float32) / d)
    angle = np.asarray(positions, dtype=np.float32)[:, None] * freq
    x = x.astype(np.float32)
    a, b = x[..., ::2], x[..., 1::2]
    pair = (a * np.cos(angle) - b * np.sin(angle), b * np.cos(angle) + a * np.sin(angle))
    return np.stack(pair, axis=-1).reshape(x.shape)


def alibi_bias(num_heads, length):
    slopes = np.float32(2) ** (-8 * np.arange(1, num_heads + 1, dtype=np.float32) / num_heads)
    d = np.arange(length, dtype=np.float32)
    return slopes[:, None, None] * (d[None, :] - d[:, None])
