import math
import torch
import torch.nn as nn


def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    dropout = nn.Dropout(p=dropout_p)
    if training:
        dropout.train()
    else:
        dropout.eval()

    matmul_qk = torch.matmul(q, k.permute(0, 1, 3, 2))
    scaled_attention_logits = matmul_qk / math.sqrt(k.shape[-1])

    if attn_mask is not None:
        neg = torch.finfo(scaled_attention_logits.dtype).min
        if attn_mask.is_floating_point():
            scaled_attention_logits = scaled_attention_logits + attn_mask.to(q.dtype)
        else:
            scaled_attention_logits = scaled_attention_logits.masked_fill(attn_mask.to(torch.uint8) == 0, neg)

    attention_weights = nn.Softmax(dim=-1)(scaled_attention_logits)
    attention_weights = dropout(attention_weights)
    output = torch.matmul(attention_weights, v)
    return output, attention_weights
