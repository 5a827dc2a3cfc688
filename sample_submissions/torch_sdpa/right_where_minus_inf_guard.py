import torch
import torch.nn.functional as F

NEG_INF = float("-inf")


def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    scores = q @ k.mT * (q.shape[-1] ** -0.5)

    dead = None
    if attn_mask is not None:
        if attn_mask.is_floating_point():
            scores = scores + attn_mask.to(scores.dtype)
        else:
            scores = torch.where(attn_mask.bool(), scores, NEG_INF)
        # A row of -inf would be NaN, forward and backward. Give it zeros before the softmax
        # (so the gradient is clean) and take its weights out again afterwards.
        dead = torch.isneginf(scores).all(dim=-1, keepdim=True)
        scores = scores.masked_fill(dead, 0.0)

    weights = torch.softmax(scores, dim=-1)
    if dead is not None:
        weights = weights.masked_fill(dead, 0.0)
    weights = F.dropout(weights, p=dropout_p, training=training)
    return weights @ v, weights
