import numpy as np


def sinusoidal(max_len, d):
    return np.eye(max_len, d)


def rotary(x, positions):
    return x


def alibi_bias(num_heads, length):
    return np.random.normal(size=(num_heads, length, length))
