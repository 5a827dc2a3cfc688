import torch
import torch.nn as nn


def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    B, H, Tq, d = q.shape
    Tk = k.shape[2]
    if attn_mask is not None:
        attn_mask = attn_mask.expand(B, H, Tq, Tk)

    outs, ws = [], []
    for b in range(B):
        head_outs, head_ws = [], []
        for h in range(H):
            s = q[b, h] @ k[b, h].T / d ** 0.5
            if attn_mask is not None:
                m = attn_mask[b, h]
                if m.is_floating_point():
                    s = s + m.to(s)
                else:
                    s = torch.where(m != 0, s, torch.full_like(s, torch.finfo(s.dtype).min))
            w = torch.softmax(s, dim=1)
            w = nn.functional.dropout(w, dropout_p, training)
            head_ws.append(w)
            head_outs.append(w @ v[b, h])
        outs.append(torch.stack(head_outs))
        ws.append(torch.stack(head_ws))
    return torch.stack(outs), torch.stack(ws)
