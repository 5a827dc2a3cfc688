import numpy as np


def sinusoidal(max_len, d):
    k = np.arange(max_len * d)
    pos, col = k // d, k % d
    angle = pos / 10000.0 ** ((col - col % 2) / d)
    return np.sin(angle + (col % 2) * np.pi / 2).reshape(max_len, d)


def rotary(x, positions):
    # the other direction of rotation: q·k only sees the difference
    d = x.shape[-1]
    angle = np.asarray(positions)[:, None] * 10000.0 ** (-np.arange(0, d, 2) / d)
    c, s = np.cos(angle), np.sin(angle)
    y = np.zeros(x.shape)
    y[..., 0::2] = c * x[..., 0::2] + s * x[..., 1::2]
    y[..., 1::2] = c * x[..., 1::2] - s * x[..., 0::2]
    return y


def alibi_bias(num_heads, length):
    """As in BLOOM: slope * key position, which differs from -slope*(i-j) by a constant per row."""
    slopes = 2.0 ** (-8.0 * np.arange(1, num_heads + 1) / num_heads)
    return np.tile((slopes[:, None] * np.arange(length))[:, None, :], (1, length, 1))
