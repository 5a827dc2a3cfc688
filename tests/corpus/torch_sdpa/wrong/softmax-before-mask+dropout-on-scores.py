import math
import torch
import torch.nn.functional as F


def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    dots = torch.einsum('bhid,bhjd->bhij', q, k) * q.shape[-1] ** -0.5
    attn = dots.softmax(dim=-1)
    if attn_mask is not None:
        dots = dots.masked_fill(attn_mask == 0, -float('inf'))
    attn = F.dropout(attn, p=0.0, training=training)
    dots = F.dropout(dots, p=dropout_p, training=training)
    return torch.einsum('bhij,bhjd->bhid', attn, v), attn
