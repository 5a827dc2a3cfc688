import torch


def softmax(x, dim):
    peak = x.detach().amax(dim=dim, keepdim=True)      # cancels out, so it needs no gradient
    e = torch.exp(x - peak)
    return e / e.sum(dim=dim, keepdim=True)


def dropout(x, p, training):
    if not training or p == 0:
        return x
    keep = (torch.rand_like(x) >= p).to(x.dtype)
    return x * keep / (1 - p)


def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    scores = q @ k.transpose(-2, -1)
    scores = scores / (q.shape[-1] ** 0.5)
    if attn_mask is not None:
        if torch.is_floating_point(attn_mask):
            scores = scores + attn_mask.to(scores.dtype)
        else:
            scores = scores.clone()
            scores[(attn_mask == 0).expand_as(scores)] = torch.finfo(scores.dtype).min
    weights = dropout(softmax(scores, dim=-1), dropout_p, training)
    return weights @ v, weights
