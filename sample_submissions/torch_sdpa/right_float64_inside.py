import torch


def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    dtype = q.dtype
    q, k, v = q.double(), k.double(), v.double()
    scores = q @ k.transpose(-1, -2) / q.size(-1) ** 0.5
    if attn_mask is not None:
        if attn_mask.is_floating_point():
            scores = scores + attn_mask.double()
        else:
            scores = scores.masked_fill(attn_mask.logical_not(), -1e9)
    weights = scores.softmax(-1)
    weights = torch.nn.functional.dropout(weights, dropout_p, training)
    out = weights @ v
    return out.to(dtype), weights.to(dtype)
