"""Entry point: re-exports what the brief asks for."""
from model.attend import attention, softmax
from model.encoding import positional_encoding
from model.heads import merge_heads, split_heads
from model.masks import causal_mask, padding_mask

__all__ = [
    "attention",
    "causal_mask",
    "merge_heads",
    "padding_mask",
    "positional_encoding",
    "softmax",
    "split_heads",
]
