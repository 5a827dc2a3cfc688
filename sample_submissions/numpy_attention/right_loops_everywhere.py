# No vectorisation on purpose: I wanted every index to be visible.
import math
import numpy as np


def softmax(x, axis=-1):
    x = np.asarray(x, dtype=float)
    moved = np.moveaxis(x, axis, -1)
    result = np.empty(moved.shape)
    for index in np.ndindex(moved.shape[:-1]):
        row = moved[index]
        biggest = max(row)
        exps = [math.exp(value - biggest) for value in row]
        total = sum(exps)
        for j in range(len(exps)):
            result[index + (j,)] = exps[j] / total
    return np.moveaxis(result, -1, axis)


def attention(Q, K, V, mask=None):
    B, Tq, d_k = Q.shape
    Tk = K.shape[1]
    d_v = V.shape[2]
    if mask is not None:
        mask = np.broadcast_to(mask, (B, Tq, Tk))

    weights = np.zeros((B, Tq, Tk))
    out = np.zeros((B, Tq, d_v))
    for b in range(B):
        for i in range(Tq):
            allowed = [j for j in range(Tk) if mask is None or mask[b, i, j]]
            if not allowed:
                continue  # nothing to look at: weights and output stay zero
            scores = []
            for j in allowed:
                dot = 0.0
                for c in range(d_k):
                    dot += float(Q[b, i, c]) * float(K[b, j, c])
                scores.append(dot / math.sqrt(d_k))
            probs = softmax(np.array(scores))
            for j, p in zip(allowed, probs):
                weights[b, i, j] = p
                for c in range(d_v):
                    out[b, i, c] += p * V[b, j, c]
    return out, weights


def causal_mask(length):
    m = np.zeros((length, length), dtype=bool)
    for i in range(length):
        for j in range(length):
            if j <= i:
                m[i, j] = True
    return m


def padding_mask(lengths, max_len):
    m = np.zeros((len(lengths), 1, max_len), dtype=bool)
    for b, n in enumerate(lengths):
        for j in range(int(n)):
            m[b, 0, j] = True
    return m


def split_heads(x, h):
    B, T, D = x.shape
    if D % h != 0:
        raise ValueError("D must be a multiple of h")
    d = D // h
    out = np.zeros((B, h, T, d), dtype=x.dtype)
    for head in range(h):
        for c in range(d):
            out[:, head, :, c] = x[:, :, head * d + c]
    return out


def merge_heads(x):
    B, h, T, d = x.shape
    out = np.zeros((B, T, h * d), dtype=x.dtype)
    for head in range(h):
        for c in range(d):
            out[:, :, head * d + c] = x[:, head, :, c]
    return out


def positional_encoding(max_len, d):
    half = d // 2
    pe = np.zeros((max_len, d))
    for pos in range(max_len):
        for i in range(half):
            angle = pos / (10000 ** (2 * i / d))
            pe[pos, i] = math.sin(angle)
            pe[pos, half + i] = math.cos(angle)
    return pe
