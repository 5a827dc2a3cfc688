import sys
import math
import torch
import torch.nn.functional as F


if len(sys.argv) < 2:
    print("usage: python submission.py HEADS")
    sys.exit(2)

HEADS = int(sys.argv[1])


class Attention:
    heads = HEADS

    def __call__(self, q, k, v, attn_mask=None, dropout_p=0.0, training=True):
        w = F.softmax(q @ k.mT / math.sqrt(q.size(-1)), dim=-1)
        return w @ v, w


scaled_dot_product_attention = Attention()
