import numpy as np


class ScaledDotProductAttention:
    """Keeps the last weights around, handy for plotting."""

    mask_value = -1e9

    def __init__(self):
        self.weights = None

    @staticmethod
    def softmax(x, axis=-1):
        e = np.exp(x - x.max(axis=axis, keepdims=True))
        return e / e.sum(axis=axis, keepdims=True)

    def score(self, Q, K):
        return Q @ K.transpose(0, 2, 1) / np.sqrt(Q.shape[-1])

    def apply_mask(self, scores, mask):
        if mask is None:
            return scores
        return np.where(mask, scores, self.mask_value)

    def __call__(self, Q, K, V, mask=None):
        scores = self.apply_mask(self.score(Q, K), mask)
        self.weights = self.softmax(scores)
        return self.weights @ V


class Heads:
    def __init__(self, h):
        self.h = h

    def split(self, x):
        B, T, D = x.shape
        if D % self.h:
            raise ValueError("D %% h != 0 (D=%d, h=%d)" % (D, self.h))
        return x.reshape(B, T, self.h, D // self.h).transpose(0, 2, 1, 3)

    @classmethod
    def merge(cls, x):
        B, h, T, d = x.shape
        return x.transpose(0, 2, 1, 3).reshape(B, T, h * d)


class SinusoidalEncoding:
    base = 10000

    def __init__(self, max_len, d):
        angles = np.arange(max_len)[:, None] / self.base ** (2 * np.arange(d // 2) / d)
        self.table = np.concatenate([np.sin(angles), np.cos(angles)], axis=1)


# the interface the brief asks for

def softmax(x, axis=-1):
    return ScaledDotProductAttention.softmax(x, axis)


def attention(Q, K, V, mask=None):
    layer = ScaledDotProductAttention()
    out = layer(Q, K, V, mask)
    return out, layer.weights


def causal_mask(length):
    return np.tril(np.ones((length, length), dtype=bool))


def padding_mask(lengths, max_len):
    return np.arange(max_len)[None, None] < np.asarray(lengths)[:, None, None]


def split_heads(x, h):
    return Heads(h).split(x)


def merge_heads(x):
    return Heads.merge(x)


def positional_encoding(max_len, d):
    return SinusoidalEncoding(max_len, d).table
