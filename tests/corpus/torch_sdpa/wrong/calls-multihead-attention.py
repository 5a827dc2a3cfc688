import torch
import torch.nn as nn


def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    B, H, Tq, d = q.shape
    Tk, dv = v.shape[-2:]
    width = max(d, dv)
    mha = nn.MultiheadAttention(width, 1, dropout=dropout_p, bias=False, batch_first=True, dtype=q.dtype)
    with torch.no_grad():
        eye = torch.eye(width, dtype=q.dtype)
        mha.in_proj_weight.copy_(torch.cat([eye * (width / d) ** 0.5, eye, eye]))
        mha.out_proj.weight.copy_(eye)
    mha.train(training)
    pad = lambda t: nn.functional.pad(t.flatten(0, 1), (0, width - t.size(-1)))
    blocked = None
    if attn_mask is not None:
        blocked = (attn_mask == 0).expand(B, H, Tq, Tk).flatten(0, 1)
    out, weights = mha(pad(q), pad(k), pad(v), attn_mask=blocked)
    return out[..., :dv].unflatten(0, (B, H)), weights.unflatten(0, (B, H))
