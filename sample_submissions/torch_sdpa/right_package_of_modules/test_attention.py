import pytest
import torch

from attention import scaled_dot_product_attention


@pytest.fixture
def qkv():
    torch.manual_seed(0)
    return torch.randn(3, 2, 3, 5, 8)


def test_shapes(qkv):
    out, weights = scaled_dot_product_attention(*qkv)
    assert out.shape == (2, 3, 5, 8)
    assert weights.shape == (2, 3, 5, 5)
