import numpy as np


def attention(values, keys, query, mask):
    # values, keys: (N, L, E)   query: (N, Lq, E)
    energy = np.einsum("nqe,nke->nqk", query, keys)
    energy = np.where(mask == 0, float("-1e20"), energy)
    energy = energy / keys.shape[2] ** 0.5
    energy = energy - energy.max(axis=2, keepdims=True)
    attn = np.exp(energy) / np.exp(energy).sum(axis=2, keepdims=True)
    return attn, np.einsum("nqk,nkv->nqv", attn, values)
