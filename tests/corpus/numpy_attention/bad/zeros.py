import numpy as np


def softmax(x, axis=-1):
    return np.zeros_like(x)


def causal_mask(length):
    return np.zeros((length, length), dtype=bool)


def padding_mask(lengths, max_len):
    return np.zeros((len(lengths), 1, max_len), dtype=bool)


def split_heads(x, h):
    B, T, D = x.shape
    return np.zeros((B, h, T, D // h))


def merge_heads(x):
    B, h, T, d = x.shape
    return np.zeros((B, T, h * d))


def positional_encoding(max_len, d):
    return np.zeros((max_len, d))


def attention(Q, K, V, mask=None):
    return np.zeros((len(Q), Q.shape[1], V.shape[2])), np.zeros((len(Q), Q.shape[1], K.shape[1]))
