import torch
import torch.nn.functional as F


def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    bsz, n_heads, tgt_len, head_dim = q.shape
    src_len, v_dim = k.shape[-2], v.shape[-1]

    # fairseq style: (B, H, T, d) -> (B*H, T, d), then batched matrix products
    q = q.reshape(bsz * n_heads, tgt_len, head_dim) * head_dim ** -0.5
    k = k.reshape(bsz * n_heads, src_len, head_dim)
    v = v.reshape(bsz * n_heads, src_len, v_dim)
    attn = torch.bmm(q, k.transpose(1, 2))

    if attn_mask is not None:
        attn_mask = attn_mask.expand(bsz, n_heads, tgt_len, src_len)
        attn_mask = attn_mask.reshape(bsz * n_heads, tgt_len, src_len)
        if attn_mask.is_floating_point():
            attn = attn + attn_mask.to(attn.dtype)
        else:
            attn = attn.masked_fill(attn_mask.eq(0), torch.finfo(attn.dtype).min)

    probs = F.dropout(attn.softmax(dim=-1), p=dropout_p, training=training)
    out = torch.bmm(probs, v)
    return (
        out.view(bsz, n_heads, tgt_len, v_dim),
        probs.view(bsz, n_heads, tgt_len, src_len),
    )
