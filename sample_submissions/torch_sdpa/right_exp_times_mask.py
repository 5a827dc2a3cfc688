import torch
import torch.nn.functional as F


def masked_softmax(scores, allowed):
    """Softmax over the allowed entries; a row without any is all zeros."""
    lowest = torch.finfo(scores.dtype).min
    peak = scores.detach().masked_fill(~allowed, lowest).amax(-1, keepdim=True)
    gap = (scores - peak).masked_fill(~allowed, 0)       # exp() never sees a blocked score
    e = torch.exp(gap) * allowed
    total = e.sum(-1, keepdim=True)
    return e / total.clamp_min(torch.finfo(e.dtype).tiny)


def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    allowed = torch.ones((), dtype=torch.bool)
    if attn_mask is not None:
        if attn_mask.is_floating_point():
            allowed = attn_mask != float("-inf")
            scores = scores + attn_mask.to(scores.dtype).masked_fill(~allowed, 0)
        else:
            allowed = attn_mask.bool()
    w = masked_softmax(scores, allowed.expand_as(scores))
    w = F.dropout(w, dropout_p, training)
    return w @ v, w
