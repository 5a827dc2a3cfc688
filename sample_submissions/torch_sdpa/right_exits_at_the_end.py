import argparse
import math
import sys

import torch
import torch.nn.functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--length", type=int, required=True)


def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.size(-1))
    if attn_mask is not None:
        if attn_mask.is_floating_point():
            scores = scores + attn_mask.to(scores.dtype)
        else:
            scores = scores.masked_fill(attn_mask == 0, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, dim=-1)
    weights = F.dropout(weights, p=dropout_p, training=training)
    return torch.matmul(weights, v), weights


args = parser.parse_args()
q, k, v = torch.randn(3, 1, 2, args.length, 8)
print(scaled_dot_product_attention(q, k, v)[0])
sys.exit(0)
