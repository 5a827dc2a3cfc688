import numpy as np


def positional_encoding(position, d_model):
    i = np.arange(d_model)[np.newaxis, :]
    angle_rads = np.arange(position)[:, np.newaxis] / np.power(10000, (2 * (i // 2)) / d_model)
    sines = np.sin(angle_rads[:, 0::2])
    cosines = np.cos(angle_rads[:, 1::2])
    return np.concatenate([sines, cosines], axis=-1)


def rotary(x, positions):
    half = x.shape[-1] // 2
    angle = positions[:, None] * 10000.0 ** (-np.arange(half) / half)
    a, b = x[..., :half], x[..., half:]
    return np.concatenate([a * np.cos(angle) - b * np.sin(angle), a * np.sin(angle) + b * np.cos(angle)], -1)


def alibi_bias(num_heads, length):
    slopes = 2.0 ** (-8 / num_heads * np.arange(1, num_heads + 1))
    return slopes[:, None, None] * (np.arange(length) - np.arange(length)[:, None])
