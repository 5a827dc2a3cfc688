import math

import numpy as np


def sinusoidal(max_len, d):
    rows = []
    for pos in range(max_len):
        row = []
        for i in range(d // 2):
            angle = pos / math.pow(10000, 2 * i / d)
            row.append(math.sin(angle))
            row.append(math.cos(angle))
        rows.append(row)
    return np.array(rows)


def rotary(x, positions):
    out = np.array(x, dtype=float)
    d = x.shape[-1]
    flat = out.reshape(-1, x.shape[-2], d)
    for sequence in flat:
        for t, pos in enumerate(positions):
            for i in range(d // 2):
                angle = int(pos) / math.pow(10000, 2 * i / d)
                a, b = sequence[t, 2 * i], sequence[t, 2 * i + 1]
                sequence[t, 2 * i] = a * math.cos(angle) - b * math.sin(angle)
                sequence[t, 2 * i + 1] = a * math.sin(angle) + b * math.cos(angle)
    return flat.reshape(x.shape)


def alibi_bias(num_heads, length):
    bias = np.zeros((num_heads, length, length))
    for h in range(num_heads):
        slope = 2 ** (-8 * (h + 1) / num_heads)
        for i in range(length):
            for j in range(i + 1):
                bias[h, i, j] = -slope * (i - j)
    return bias
