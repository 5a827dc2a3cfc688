import numpy as np

BASE = 10_000


def sinusoidal(max_len: int, d: int) -> np.ndarray:
    """(max_len, d); odd d gets one sine without a partner."""
    columns = np.arange(d)
    rates = 1.0 / np.power(BASE, (columns // 2) * 2.0 / d)
    angles = np.arange(max_len)[:, None] * rates
    angles[:, 0::2] = np.sin(angles[:, 0::2])
    angles[:, 1::2] = np.cos(angles[:, 1::2])
    return angles


def rotary(x: np.ndarray, positions: np.ndarray) -> np.ndarray:
    *_, length, d = x.shape
    rates = 1.0 / np.power(BASE, np.arange(0, d, 2) / d)
    angles = np.asarray(positions, float).reshape(length, 1) * rates
    rotation = np.moveaxis(
        np.array([[np.cos(angles), -np.sin(angles)], [np.sin(angles), np.cos(angles)]]), (0, 1), (2, 3)
    )
    pairs = x.reshape(*x.shape[:-1], d // 2, 2, 1)
    return (rotation @ pairs).reshape(x.shape)


def alibi_bias(num_heads: int, length: int) -> np.ndarray:
    ratio = 2.0 ** (-8.0 / num_heads)
    slopes = ratio ** np.arange(1, num_heads + 1)
    i, j = np.ogrid[:length, :length]
    linear = slopes.reshape(-1, 1, 1) * (j - i)
    return np.where(j <= i, linear, -np.inf)
