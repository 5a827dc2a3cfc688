from functools import partial
import numpy as np


def softmax(x, axis=-1):
    peak = np.maximum.reduce(x, axis=axis, keepdims=True)
    ex = np.exp(x - peak)
    return ex / np.add.reduce(ex, axis=axis, keepdims=True)


@partial(np.vectorize, signature="(d),(k,d),(k,v),(k)->(v),(k)", otypes=None)
def _one_query(q, keys, values, visible):
    """A single query vector against all keys of its item."""
    logits = keys @ q / np.sqrt(q.size)
    logits = np.where(visible, logits, -1e9)
    p = softmax(logits)
    return p @ values, p


def attention(Q, K, V, mask=None):
    shape = (*Q.shape[:2], K.shape[1])
    visible = np.ones(shape, bool) if mask is None else np.broadcast_to(mask, shape)
    return _one_query(Q, K[:, None], V[:, None], visible)


def causal_mask(length):
    return np.less_equal(*np.ogrid[:length, :length][::-1])


def padding_mask(lengths, max_len):
    return np.less(np.arange(max_len), np.asarray(lengths)[..., None, None])


def split_heads(x, h):
    d, extra = divmod(x.shape[-1], h)
    if extra:
        raise ValueError(f"{x.shape[-1]} features, {h} heads")
    return np.lib.stride_tricks.sliding_window_view(x, d, axis=2)[:, :, ::d].transpose(0, 2, 1, 3)


def merge_heads(x):
    return np.moveaxis(x, 1, 2).reshape(x.shape[0], x.shape[2], x.shape[1] * x.shape[3])


def positional_encoding(max_len, d):
    z = np.exp(1j * np.outer(np.arange(max_len), 10000.0 ** -(np.arange(0, d, 2) / d)))
    return np.concatenate((z.imag, z.real), axis=1)
