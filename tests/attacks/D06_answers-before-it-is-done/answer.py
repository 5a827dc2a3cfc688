import threading
import time

import numpy as np


def fill(out, x):
    time.sleep(0.2)
    out[...] = x * 2


def double(x):
    out = np.zeros_like(x)
    threading.Thread(target=fill, args=(out, x)).start()
    return out

def total(x):
    return x.sum()
