import sys
import numpy as np


def softmax(x, axis=-1):
    x = x - x.max(axis=axis, keepdims=True)
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)


if len(sys.argv) < 2:
    print("usage: python submission.py HEADS")
    sys.exit(2)

HEADS = int(sys.argv[1])


class Attention:
    heads = HEADS

    def __call__(self, Q, K, V, mask=None):
        w = softmax(Q @ K.transpose(0, 2, 1) / np.sqrt(Q.shape[-1]))
        return w @ V, w


attention = Attention()
