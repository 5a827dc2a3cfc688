import torch
from scipy import special


def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    scores = torch.einsum("bhqd,bhkd->bhqk", q, k) / q.size(-1) ** 0.5
    if attn_mask is not None:
        scores = scores.masked_fill(attn_mask == 0, torch.finfo(scores.dtype).min)
    weights = torch.from_numpy(special.softmax(scores.numpy(), axis=-1))
    return weights @ v, weights
