import numpy as np


def unit_circle(positions, d):
    """e^(i·pos·theta), one complex number per position and frequency."""
    theta = 10000.0 ** (-np.arange(0, d, 2) / d)
    return np.exp(1j * np.multiply.outer(np.asarray(positions, dtype=float), theta))


def sinusoidal(max_len, d):
    z = unit_circle(np.arange(max_len), d)
    return np.stack([z.imag, z.real], axis=-1).reshape(max_len, d)


def rotary(x, positions):
    pairs = np.ascontiguousarray(x, dtype=np.float64).view(np.complex128)
    turned = pairs * unit_circle(positions, x.shape[-1])
    return turned.view(np.float64)


def alibi_bias(num_heads, length):
    slopes = np.geomspace(2 ** (-8 / num_heads), 2.0**-8, num_heads)
    i, j = np.indices((length, length))
    return slopes[:, None, None] * (j - i)
