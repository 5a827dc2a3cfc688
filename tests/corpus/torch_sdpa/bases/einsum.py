import torch
from torch import nn, einsum


def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    scale = q.shape[-1] ** -0.5
    sim = einsum('b h i d, b h j d -> b h i j', q, k) * scale
    if attn_mask is not None:
        sim = sim.masked_fill(~attn_mask.bool(), -torch.finfo(sim.dtype).max)
    attn = sim.softmax(dim=-1)
    attn = nn.functional.dropout(attn, p=dropout_p, training=training)
    return einsum('b h i j, b h j e -> b h i e', attn, v), attn
