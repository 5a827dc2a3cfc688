"""Attention from scratch (numpy only)."""
from __future__ import annotations

import numpy as np


def softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:
    """Numerically stable softmax."""
    shifted = x - np.max(x, axis=axis, keepdims=True)
    exps = np.exp(shifted)
    return exps / np.sum(exps, axis=axis, keepdims=True)


def attention(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Scaled dot-product attention; mask is True where a query may attend."""
    d_k = Q.shape[-1]
    scores = Q @ np.swapaxes(K, -2, -1) / np.sqrt(d_k)
    if mask is not None:
        scores = np.where(mask, scores, -1e9)
    weights = softmax(scores, axis=-1)
    return weights @ V, weights


def causal_mask(length: int) -> np.ndarray:
    """Each position attends to itself and the past."""
    idx = np.arange(length)
    return idx[None, :] <= idx[:, None]


def padding_mask(lengths: np.ndarray, max_len: int) -> np.ndarray:
    """(B, 1, max_len), True for real tokens."""
    lengths = np.asarray(lengths)
    return np.arange(max_len)[None, None, :] < lengths[:, None, None]


def split_heads(x: np.ndarray, h: int) -> np.ndarray:
    """(B, T, D) -> (B, h, T, D // h)"""
    batch, length, width = x.shape
    if width % h:
        raise ValueError(f"{width} features cannot be split into {h} heads")
    return x.reshape(batch, length, h, width // h).transpose(0, 2, 1, 3)


def merge_heads(x: np.ndarray) -> np.ndarray:
    """(B, h, T, d) -> (B, T, h * d)"""
    batch, h, length, width = x.shape
    return x.transpose(0, 2, 1, 3).reshape(batch, length, h * width)


def positional_encoding(max_len: int, d: int) -> np.ndarray:
    """Sines in the first half of the columns, cosines in the second."""
    positions = np.arange(max_len)[:, None]
    frequencies = 10000.0 ** (-2 * np.arange(d // 2) / d)
    angles = positions * frequencies[None, :]
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1)
