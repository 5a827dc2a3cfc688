import torch
import torch.nn.functional as F


def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    scores = torch.matmul(q, k.transpose(-2, -1)) * q.size(-1) ** -0.5
    if attn_mask is not None:
        if attn_mask.is_floating_point():
            scores += attn_mask.to(scores.dtype)          # scores is our own tensor
        else:
            scores.masked_fill_(attn_mask == 0, torch.finfo(scores.dtype).min)
    attention_map = scores.softmax(dim=-1)
    # dropout regularises the mixing; the map that is returned for inspection stays a distribution
    out = F.dropout(attention_map, dropout_p, training) @ v
    return out, attention_map
