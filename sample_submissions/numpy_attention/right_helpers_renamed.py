import numpy as np


def stable_softmax(logits, axis=-1):
    shifted = logits - logits.max(axis=axis, keepdims=True)
    exps = np.exp(shifted)
    return exps / exps.sum(axis=axis, keepdims=True)


def compute_scores(queries, keys):
    return np.einsum("nqd,nkd->nqk", queries, keys) / np.sqrt(queries.shape[-1])


def hide(scores, visible):
    if visible is None:
        return scores
    return np.where(visible, scores, -1e15)


def mix(weights, values):
    return weights @ values


def scaled_dot_product_attention(Q, K, V, mask=None):
    weights = stable_softmax(hide(compute_scores(Q, K), mask))
    return mix(weights, V), weights


def look_back_only(length):
    i = np.arange(length)
    return i[None, :] <= i[:, None]


def real_tokens(lengths, max_len):
    return np.arange(max_len)[None, None, :] < np.array(lengths)[:, None, None]


def to_heads(x, h):
    n, t, d = x.shape
    if d % h:
        raise ValueError("bad number of heads")
    return x.reshape(n, t, h, d // h).swapaxes(1, 2)


def from_heads(x):
    n, h, t, d = x.shape
    return x.swapaxes(1, 2).reshape(n, t, h * d)


def sinusoids(max_len, d):
    t = np.arange(max_len)[:, None] / np.power(10000.0, np.arange(0, d, 2) / d)
    return np.concatenate([np.sin(t), np.cos(t)], axis=1)


softmax = stable_softmax
attention = scaled_dot_product_attention
causal_mask = look_back_only
padding_mask = real_tokens
split_heads = to_heads
merge_heads = from_heads
positional_encoding = sinusoids
