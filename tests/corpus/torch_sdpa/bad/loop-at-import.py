import math
import torch
import torch.nn.functional as F


def train(rate):
    loss = 1.0
    while loss > 0:
        loss = max(loss * rate, 1e-30)
    return loss


def make_attention(scale):
    def attend(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
        w = F.softmax(scale * (q @ k.mT), dim=-1)
        return w @ v, w
    return attend


scaled_dot_product_attention = make_attention(train(0.5))
