import functools

import numpy as np


@functools.lru_cache(maxsize=None)
def rates(d, base):
    return 1.0 / base ** (np.arange(0, d, 2) / d)


@functools.lru_cache(maxsize=8)
def tables(length, d, base):
    """cos and sin of all positions below length: (length, d/2) each, computed once."""
    angles = np.outer(np.arange(length), rates(d, base))
    return np.cos(angles), np.sin(angles)


def sinusoidal(max_len, d, base=10000.0):
    cos, sin = tables(max_len, d, base)
    return np.stack([sin, cos], axis=-1).reshape(max_len, d)


def apply_rotary(x, cos, sin):
    real, imaginary = x[..., 0::2], x[..., 1::2]
    turned = (real * cos - imaginary * sin, real * sin + imaginary * cos)
    return np.stack(turned, axis=-1).reshape(x.shape)


def rotary(x, positions, theta=10000.0):
    positions = np.asarray(positions)
    cos, sin = tables(int(positions.max()) + 1, x.shape[-1], theta)
    return apply_rotary(x, cos[positions], sin[positions])


def alibi_bias(num_heads, length):
    slopes = [2.0 ** (-8.0 * h / num_heads) for h in range(1, num_heads + 1)]
    steps = np.arange(length)
    return np.multiply.outer(slopes, np.minimum(steps[None, :] - steps[:, None], 0))
