# no @, no einsum: products and sums with broadcasting
import numpy as np


def softmax(x, axis=-1):
    m = np.expand_dims(np.max(x, axis), axis)
    e = np.exp(x - m)
    return e / np.expand_dims(np.sum(e, axis), axis)


def attention(Q, K, V, mask=None):
    q = Q[:, :, None, :]                                # B Tq 1  d
    k = K[:, None, :, :]                                # B 1  Tk d
    scores = (q * k).sum(-1) / np.sqrt(Q.shape[-1])     # B Tq Tk
    if mask is not None:
        blocked = np.logical_not(mask)
        scores = scores.copy()
        np.copyto(scores, -1e9, where=blocked)
    w = softmax(scores, axis=2)
    out = (w[..., None] * V[:, None, :, :]).sum(axis=2)
    return out, w


def causal_mask(length):
    return np.cumsum(np.eye(length), axis=0).astype(bool)     # column j is switched on from row j


def padding_mask(lengths, max_len):
    lengths = np.asarray(lengths).ravel()
    counter = np.cumsum(np.ones((len(lengths), 1, max_len), dtype=int), axis=-1)
    return counter <= lengths[:, None, None]


def split_heads(x, h):
    B, T, D = x.shape
    index = np.arange(D).reshape(h, D // h)             # ValueError if h does not divide D
    return x[:, :, index].transpose(0, 2, 1, 3)


def merge_heads(x):
    B, h, T, d = x.shape
    column = np.arange(h * d)
    return x[:, column // d, :, column % d].transpose(1, 2, 0)


def positional_encoding(max_len, d):
    ang = np.arange(max_len)[:, None] / np.power(10000, np.arange(0, d, 2)[None, :] / d)
    out = np.zeros((max_len, d))
    np.sin(ang, out=out[:, : d // 2])
    np.cos(ang, out=out[:, d // 2 :])
    return out
