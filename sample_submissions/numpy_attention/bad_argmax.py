import numpy as np


def softmax(x, axis=-1):
    raise NotImplementedError


def causal_mask(length):
    raise NotImplementedError


def padding_mask(lengths, max_len):
    raise NotImplementedError


def split_heads(x, h):
    raise NotImplementedError


def merge_heads(x):
    raise NotImplementedError


def positional_encoding(max_len, d):
    raise NotImplementedError


def attention(Q, K, V, mask=None):
    scores = Q @ K.transpose(0, 2, 1)
    if mask is not None:
        scores = np.where(mask, scores, -1e9)
    w = np.eye(K.shape[1])[scores.argmax(axis=-1)]
    return w @ V, w
