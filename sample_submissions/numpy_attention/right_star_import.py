from numpy import *

def softmax(x, axis=-1):
    x = exp(x - x.max(axis, keepdims=True))
    return x / x.sum(axis, keepdims=True)

def attention(Q, K, V, mask=None):
    A = matmul(Q, K.transpose(0, 2, 1)) / sqrt(Q.shape[2])
    if mask is not None:
        A = choose(mask, (float32(-1e9), A))
    A = softmax(A, axis=2)
    return matmul(A, V), A

def causal_mask(length):
    return tril(ones((length, length), dtype=bool))

def padding_mask(lengths, max_len):
    return arange(max_len)[newaxis, newaxis, :] < array(lengths)[:, newaxis, newaxis]

def split_heads(x, h):
    B, T, D = x.shape
    if D % h: raise ValueError('D %% h = %d' % (D % h))
    return swapaxes(reshape(x, (B, T, h, D // h)), 1, 2)

def merge_heads(x):
    B, h, T, d = x.shape
    return reshape(swapaxes(x, 1, 2), (B, T, h * d))

def positional_encoding(max_len, d):
    w = arange(max_len)[:, newaxis] / power(10000., arange(0, d, 2) / d)
    return concatenate((sin(w), cos(w)), axis=1)
