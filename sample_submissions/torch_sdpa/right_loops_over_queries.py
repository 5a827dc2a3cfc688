# One query at a time. Slow, but every line is the formula.
import math
import torch


def attend_one(query, keys, values, visible, bias, dropout_p, training):
    # query (B,H,d)  keys (B,H,Tk,d)  values (B,H,Tk,dv)
    score = (query.unsqueeze(-2) * keys).sum(dim=-1) / math.sqrt(query.size(-1))     # (B,H,Tk)
    if bias is not None:
        score = score + bias
    if visible is not None:
        score = score.masked_fill(~visible, torch.finfo(score.dtype).min)
    weight = torch.softmax(score, dim=-1)
    weight = torch.nn.functional.dropout(weight, p=dropout_p, training=training)
    return (weight.unsqueeze(-1) * values).sum(dim=-2), weight


def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    B, H, Tq, _ = q.shape
    visible = bias = None
    if attn_mask is not None:
        attn_mask = attn_mask.broadcast_to(B, H, Tq, k.size(-2))
        if attn_mask.is_floating_point():
            bias = attn_mask.to(q.dtype)
        else:
            visible = attn_mask.to(torch.bool)
    results = [
        attend_one(
            q[:, :, t], k, v,
            None if visible is None else visible[:, :, t],
            None if bias is None else bias[:, :, t],
            dropout_p, training,
        )
        for t in range(Tq)
    ]
    out = torch.stack([o for o, _ in results], dim=2)
    weights = torch.stack([w for _, w in results], dim=2)
    return out, weights
