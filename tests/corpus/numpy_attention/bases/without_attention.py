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
    return V, np.eye(Q.shape[1], K.shape[1])[None].repeat(len(Q), axis=0)
