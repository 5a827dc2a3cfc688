import numpy as np


def sinusoidal(max_len, d):
    # stored small, as a model would keep it
    angle = np.arange(max_len)[:, None] / 10000 ** (np.arange(0, d, 2) / d)
    table = np.zeros((max_len, d), dtype=np.float16)
    table[:, ::2], table[:, 1::2] = np.sin(angle), np.cos(angle)
    return table


def rotary(x, positions):
    angle = np.asarray(positions)[:, None] / 10000 ** (np.arange(0, x.shape[-1], 2) / x.shape[-1])
    cos, sin = np.cos(angle), np.sin(angle)
    even, odd = x[..., ::2], x[..., 1::2]
    return np.dstack([(even * cos - odd * sin).ravel(), (even * sin + odd * cos).ravel()]).reshape(x.shape)


def alibi_bias(num_heads, length):
    rows = [[-(i - j) for j in range(length)] for i in range(length)]
    return np.array([2 ** (-8 * h / num_heads) * np.array(rows) for h in range(1, num_heads + 1)])
