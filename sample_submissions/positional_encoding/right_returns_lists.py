from math import cos, sin

import numpy as np


def sinusoidal(max_len, d):
    def cell(pos, col):
        angle = pos / 10000 ** (col // 2 * 2 / d)
        return cos(angle) if col % 2 else sin(angle)

    return [[cell(pos, col) for col in range(d)] for pos in range(max_len)]


def rotary(x, positions):
    d = x.shape[-1]
    blocks = []
    for pos in positions:
        R = np.zeros((d, d))
        for i in range(0, d, 2):
            t = pos / 10000 ** (i / d)
            R[i:i + 2, i:i + 2] = [[cos(t), -sin(t)], [sin(t), cos(t)]]
        blocks.append(R)
    return np.einsum("tij,...tj->...ti", np.array(blocks), x)


def alibi_bias(num_heads, length):
    return [
        [[-(2 ** (-8 * (h + 1) / num_heads)) * max(i - j, 0) for j in range(length)] for i in range(length)]
        for h in range(num_heads)
    ]
