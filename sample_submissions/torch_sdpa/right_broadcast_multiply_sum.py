import torch
import torch.nn.functional as F


def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    # (B,H,Tq,1,d) * (B,H,1,Tk,d) summed over d
    scores = (q[..., :, None, :] * k[..., None, :, :]).sum(-1) / q.shape[-1] ** 0.5
    if attn_mask is not None:
        if attn_mask.dtype.is_floating_point:
            scores = scores + attn_mask.to(scores.dtype)
        else:
            scores = torch.where(attn_mask.bool(), scores, torch.finfo(scores.dtype).min)
    e = torch.exp(scores - scores.max(dim=-1, keepdim=True).values)
    weights = e / e.sum(dim=-1, keepdim=True)
    weights = F.dropout(weights, p=dropout_p, training=training)
    out = (weights[..., None] * v[..., None, :, :]).sum(dim=-2)
    return out, weights
