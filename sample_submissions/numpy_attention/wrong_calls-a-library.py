import numpy as np
import torch
import torch.nn.functional as F


def softmax(x, axis=-1):
    z = np.exp(x - np.amax(x, axis, keepdims=True))
    return z / z.sum(axis, keepdims=True)


def attention(Q, K, V, mask=None):
    q, k, v = (torch.as_tensor(np.ascontiguousarray(a)) for a in (Q, K, V))
    m = None if mask is None else torch.as_tensor(mask)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=m)
    logits = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
    if m is not None:
        logits = logits.masked_fill(~m, -1e9)
    return out.numpy(), torch.softmax(logits, -1).numpy()


def causal_mask(length):
    return np.tri(length, dtype=bool)


def padding_mask(lengths, max_len):
    lengths = np.asarray(lengths)
    return np.arange(max_len)[None, None] < lengths.reshape(-1, 1, 1)


def split_heads(x, h):
    b, t, d = x.shape
    if d % h:
        raise ValueError(f'{d} % {h} != 0')
    return np.einsum('bthd->bhtd', x.reshape(b, t, h, d // h))


def merge_heads(x):
    b, h, t, d = x.shape
    return np.einsum('bhtd->bthd', x).reshape(b, t, h * d)


def positional_encoding(max_len, d):
    inv_freq = 1.0 / 10000 ** (np.arange(0, d, 2) / d)
    phase = np.outer(np.arange(max_len), inv_freq)
    return np.concatenate([np.sin(phase), np.cos(phase)], axis=-1)
