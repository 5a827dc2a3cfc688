import numpy as np


def partial(Q, K, V, mask):
    s = Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1])
    if mask is not None:
        s = np.where(mask, s, -1e9)
    m = s.max(-1, keepdims=True)
    e = np.exp(s - m)
    return m, e.sum(-1, keepdims=True), e @ V


def merge(a, b):
    m = np.maximum(a[0], b[0])
    wa, wb = np.exp(a[0] - m), np.exp(b[0] - m)
    return m, wa * a[1] + wb * b[1], wa * a[2] + wb * b[2]


def solve(Q, K, V, size, mask):
    n = K.shape[1]
    if n <= size:
        return partial(Q, K, V, mask)
    half = -(-n // size) // 2 * size
    left = solve(Q, K[:, :half], V[:, :half], size, None if mask is None else mask[..., :half])
    right = solve(Q, K[:, half:], V[:, half:], size, None if mask is None else mask[..., half:])
    return merge(left, right)


def attention(Q, K, V, block_size, mask=None):
    _, total, out = solve(Q, K, V, block_size, mask)
    return out / total
