import numpy as np


def positional_encoding(max_len, d):
    angles = np.arange(max_len)[:, None] / np.power(10000, 2 * np.arange(d // 2) / d)
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1)
