# attention, written by hand
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class OneHeadAttention(nn.Module):
    def __init__(self, emb_size, qk_size, v_size):
        super().__init__()
        self.d_head = qk_size

    def forward(self, x_q, x_kv, mask=None):
        qh, kh, vh = x_q, x_kv, x_kv
        logits = qh @ kh.transpose(-2, -1) / math.sqrt(self.d_head)
        if mask is not None:
            logits = logits.masked_fill(mask, torch.finfo(logits.dtype).min)
        probs = torch.softmax(logits, dim=-1)
        out = probs @ vh
        return out
