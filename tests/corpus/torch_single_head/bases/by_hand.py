# attention, written by hand
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class OneHeadAttention(nn.Module):
    def __init__(self, emb_size, qk_size, v_size):
        super().__init__()
        self.d_head = qk_size
        self.q_proj = nn.Linear(emb_size, qk_size)
        self.k_proj = nn.Linear(emb_size, qk_size)
        self.v_proj = nn.Linear(emb_size, v_size)

    def forward(self, x_q, x_kv, mask=None):
        qh = self.q_proj(x_q)
        kh = self.k_proj(x_kv)
        vh = self.v_proj(x_kv)
        logits = qh @ kh.transpose(-2, -1) / math.sqrt(self.d_head)
        if mask is not None:
            logits = logits.masked_fill(mask, torch.finfo(logits.dtype).min)
        probs = torch.softmax(logits, dim=-1)
        out = probs @ vh
        return out
