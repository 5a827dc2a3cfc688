import numpy as np


def attn(q, k, v):
    return float(np.mean(q) + np.mean(k) + np.mean(v))
