import numpy as np


def softmax(x, axis=-1):
    x = np.asarray(x)
    ex = np.exp(np.subtract(x, x.max(axis, keepdims=True)))
    ex /= ex.sum(axis, keepdims=True)
    return ex


def attention(Q, K, V, mask=None):
    Q, K, V = map(np.asarray, (Q, K, V))
    scale = np.asarray(1 / np.sqrt(Q.shape[-1]), dtype=Q.dtype)
    logits = Q @ K.transpose(0, 2, 1) * scale
    if mask is not None:
        logits = np.where(mask, logits, np.finfo(logits.dtype).min)
    attn = softmax(logits)
    return attn @ V, attn


def causal_mask(length):
    return np.tri(length, dtype=bool)


def padding_mask(lengths, max_len):
    lengths = np.asarray(lengths, dtype=int)
    mask = np.zeros((lengths.size, 1, max_len), bool)
    for row, n in zip(mask, lengths):
        row[:, :n] = True
    return mask


def split_heads(x, h):
    *lead, width = x.shape
    head_width, rest = divmod(width, h)
    if rest:
        raise ValueError("the width has to be a multiple of the number of heads")
    return np.moveaxis(x.reshape(*lead, h, head_width), 2, 1)


def merge_heads(x):
    x = np.moveaxis(x, 1, 2)
    return x.reshape(*x.shape[:2], -1)


def positional_encoding(max_len, d):
    pe = np.empty((max_len, d))
    position = np.arange(max_len)[:, np.newaxis]
    div_term = np.exp(np.arange(0, d, 2) * -(np.log(10000.0) / d))
    pe[:, : d // 2] = np.sin(position * div_term)
    pe[:, d // 2 :] = np.cos(position * div_term)
    return pe
