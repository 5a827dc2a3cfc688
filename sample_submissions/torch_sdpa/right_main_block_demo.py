import math
import unittest

import torch
import torch.nn.functional as F


def scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, training=True):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if attn_mask is not None:
        if attn_mask.is_floating_point():
            scores = scores + attn_mask.to(scores.dtype)
        else:
            scores = scores.masked_fill(attn_mask == 0, torch.finfo(scores.dtype).min)
    weights = scores.softmax(dim=-1)
    weights = F.dropout(weights, p=dropout_p, training=training)
    return weights @ v, weights


def causal_mask(length):
    """下三角，含对角线；第 i 行不能看未来"""
    return torch.tril(torch.ones(length, length, dtype=torch.bool))


class TestAttention(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)
        self.q, self.k, self.v = torch.randn(3, 2, 4, 5, 8)

    def test_against_torch(self):
        out, _ = scaled_dot_product_attention(self.q, self.k, self.v, causal_mask(5))
        ref = F.scaled_dot_product_attention(self.q, self.k, self.v, is_causal=True)
        torch.testing.assert_close(out, ref)

    def test_rows(self):
        _, w = scaled_dot_product_attention(self.q, self.k, self.v)
        torch.testing.assert_close(w.sum(-1), torch.ones(2, 4, 5))


if __name__ == "__main__":
    print(causal_mask(5).int())
    unittest.main()
