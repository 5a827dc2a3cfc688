import torch
from torch.nn import functional as F


def one_head(q, k, bias):
    return torch.softmax(q @ k.T / q.shape[-1] ** 0.5 + bias, dim=-1)


all_heads = torch.vmap(torch.vmap(one_head))


def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    shape = (*q.shape[:3], k.shape[2])
    low = torch.finfo(q.dtype).min / 2
    if attn_mask is None:
        bias = torch.zeros(shape, dtype=q.dtype)
    elif attn_mask.is_floating_point():
        bias = attn_mask.to(q.dtype).clamp(min=low).expand(shape)
    else:
        bias = q.new_zeros(shape).masked_fill(attn_mask == 0, low)
    weights = F.dropout(all_heads(q, k, bias), dropout_p, training)
    return torch.vmap(torch.vmap(torch.mm))(weights, v), weights
