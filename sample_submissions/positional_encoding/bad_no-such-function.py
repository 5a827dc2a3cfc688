import numpy as np


def get_positional_table(n, width):
    return np.zeros((n, width))
