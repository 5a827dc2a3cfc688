import torch as th
import torch.nn.functional as tf


def similarity(a, b):
    return th.matmul(a, th.transpose(b, -1, -2)) / (a.shape[-1] ** 0.5)


def hide(sim, m):
    match m:
        case None:
            return sim
        case th.Tensor(dtype=th.float16 | th.bfloat16 | th.float32 | th.float64):
            return sim + m.to(sim.dtype)
        case _:
            return th.masked_fill(sim, th.logical_not(m), th.finfo(sim.dtype).min)


def mix(w, values):
    return th.matmul(w, values)


def attend(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    w = tf.softmax(hide(similarity(q, k), attn_mask), dim=-1)
    w = tf.dropout(w, p=dropout_p, training=training)
    return mix(w, v), w


scaled_dot_product_attention = attend
