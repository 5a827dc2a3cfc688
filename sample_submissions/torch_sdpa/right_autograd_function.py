import math
import torch
import torch.nn.functional as F


class MaskedSoftmax(torch.autograd.Function):
    """Softmax with its gradient written by hand: ds = w * (dw - sum(dw * w))."""

    @staticmethod
    def forward(ctx, scores, blocked):
        if blocked is not None:
            scores = scores.masked_fill(blocked, torch.finfo(scores.dtype).min)
        scores = scores - scores.amax(dim=-1, keepdim=True)
        w = scores.exp()
        w = w / w.sum(dim=-1, keepdim=True)
        ctx.save_for_backward(w, blocked)
        return w

    @staticmethod
    def backward(ctx, grad):
        w, blocked = ctx.saved_tensors
        ds = w * (grad - (grad * w).sum(dim=-1, keepdim=True))
        if blocked is not None:
            ds = ds.masked_fill(blocked, 0.0)
        return ds, None


def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    blocked = None
    if attn_mask is not None:
        if attn_mask.is_floating_point():
            scores = scores + attn_mask.to(scores.dtype)
        else:
            blocked = (attn_mask == 0).expand_as(scores)
    weights = MaskedSoftmax.apply(scores, blocked)
    weights = F.dropout(weights, dropout_p, training)
    return weights @ v, weights
