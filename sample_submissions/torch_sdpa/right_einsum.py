import torch
from torch import einsum


def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    """q (b h i d), k (b h j d), v (b h j e) -> (b h i e), (b h i j)"""
    sim = einsum("b h i d, b h j d -> b h i j", q, k) * q.shape[-1] ** -0.5
    if attn_mask is not None:
        if attn_mask.dtype.is_floating_point:
            sim = sim + attn_mask.type_as(sim)
        else:
            sim = sim.masked_fill(~attn_mask.bool(), -torch.finfo(sim.dtype).max)
    attn = sim.softmax(dim=-1)
    attn = torch.dropout(attn, dropout_p, training)
    return einsum("b h i j, b h j e -> b h i e", attn, v), attn
