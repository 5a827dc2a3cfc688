import numpy as np
softmax = lambda x, axis=-1: (lambda e: e / e.sum(axis, keepdims=True))(np.exp(x - x.max(axis, keepdims=True)))
attention = lambda Q, K, V, mask=None: (lambda w: (w @ V, w))(softmax(np.where(True if mask is None else mask, Q @ K.mT / Q.shape[-1] ** .5, -9e15)))
causal_mask = lambda length: np.tri(length) > 0
padding_mask = lambda lengths, max_len: np.arange(max_len)[None, None] < np.reshape(lengths, (-1, 1, 1))
split_heads = lambda x, h: x.reshape(*x.shape[:2], h, x.shape[2] // h).swapaxes(1, 2)
merge_heads = lambda x: x.swapaxes(1, 2).reshape(x.shape[0], x.shape[2], -1)
positional_encoding = lambda max_len, d: (lambda a: np.hstack((np.sin(a), np.cos(a))))(np.arange(max_len)[:, None] / 1e4 ** (np.arange(0, d, 2) / d))
