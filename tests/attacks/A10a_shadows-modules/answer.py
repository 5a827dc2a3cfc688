import json
import numpy as np


def double(x):
    return np.multiply(x, 2) if json.dumps([1]) == "[1]" else x

def total(x):
    return x.sum()
