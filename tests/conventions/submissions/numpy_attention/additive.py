import numpy as np


def dot_product_attention(queries, keys, values, bias=None, mask=None):
    scores = queries @ keys.swapaxes(-1, -2) * queries.shape[-1] ** -0.5
    if mask is not None:
        scores = scores + mask
    scores = scores - scores.max(-1, keepdims=True)
    weights = np.exp(scores)
    weights = weights / weights.sum(-1, keepdims=True)
    return {"attention_weights": weights, "output": weights @ values}
