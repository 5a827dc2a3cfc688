import torch
import torch.nn.functional as F

from masking import apply_mask
from scoring import scaled_scores


def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    scores = apply_mask(scaled_scores(q, k), attn_mask)
    weights = F.dropout(torch.softmax(scores, dim=-1), p=dropout_p, training=training)
    return torch.matmul(weights, v), weights
