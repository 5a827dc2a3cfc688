import math
import numpy as np

def softmax(x, axis=-1):
    m = np.max(x, axis=axis, keepdims=True)
    e = np.exp(x - m)
    s = np.sum(e, axis=axis, keepdims=True)
    return e / s

def attention(Q, K, V, mask=None):
    B, Tq, d = Q.shape
    Tk = K.shape[1]
    if mask is not None:
        mask = np.broadcast_to(mask, (B, Tq, Tk))
    out = np.zeros((B, Tq, V.shape[2]))
    weights = np.zeros((B, Tq, Tk))
    for b in range(B):
        for i in range(Tq):
            s = K[b] @ Q[b, i] / math.sqrt(d)
            if mask is not None:
                s = np.where(mask[b, i], s, -1e9)
            weights[b, i] = softmax(s)
            out[b, i] = weights[b, i] @ V[b]
    return out, weights

def causal_mask(length):
    mask = np.zeros((length, length), dtype=bool)
    for i in range(length):
        mask[i, :i + 1] = True
    return mask

def padding_mask(lengths, max_len):
    mask = np.zeros((len(lengths), 1, max_len), dtype=bool)
    for b, n in enumerate(lengths):
        mask[b, 0, :n] = True
    return mask

def split_heads(x, h):
    B, T, D = x.shape
    if D % h != 0:
        raise ValueError("h must divide D")
    d = D // h
    out = np.zeros((B, h, T, d))
    for i in range(h):
        out[:, i] = x[:, :, i * d:(i + 1) * d]
    return out

def merge_heads(x):
    B, h, T, d = x.shape
    out = np.zeros((B, T, h * d))
    for i in range(h):
        out[:, :, i * d:(i + 1) * d] = x[:, i]
    return out

def positional_encoding(max_len, d):
    pe = np.zeros((max_len, d))
    for pos in range(max_len):
        for i in range(d // 2):
            angle = pos / (10000 ** (2 * i / d))
            pe[pos, i] = math.sin(angle)
            pe[pos, d // 2 + i] = math.cos(angle)
    return pe
