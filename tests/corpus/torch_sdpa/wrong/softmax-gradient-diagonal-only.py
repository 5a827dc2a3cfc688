import math
import torch
import torch.nn.functional as F


class Softmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.softmax(x, dim=-1)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad):
        y, = ctx.saved_tensors
        return y * (1 - y) * grad        # derivative of the softmax


def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if attn_mask is not None:
        if attn_mask.is_floating_point():
            scores = scores + attn_mask.to(scores.dtype)
        else:
            scores = scores.masked_fill(attn_mask == 0, torch.finfo(scores.dtype).min)
    weights = F.dropout(Softmax.apply(scores), dropout_p, training)
    return weights @ v, weights
