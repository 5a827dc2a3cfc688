"""Take-home: attention from scratch, written with einsum throughout."""
import numpy as np
from typing import Optional, Sequence, Tuple

LARGE_NEGATIVE = -1e30


def softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:
    shifted = x - np.amax(x, axis=axis, keepdims=True)
    unnormalised = np.exp(shifted)
    return unnormalised / unnormalised.sum(axis=axis, keepdims=True)


def attention(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: Optional[np.ndarray] = None
) -> Tuple[np.ndarray, np.ndarray]:
    d_k = Q.shape[-1]
    scores = np.einsum("bqd,bkd->bqk", Q, K) * d_k ** -0.5
    if mask is not None:
        scores = np.where(mask, scores, LARGE_NEGATIVE)
    weights = softmax(scores, axis=-1)
    return np.einsum("bqk,bkv->bqv", weights, V), weights


def causal_mask(length: int) -> np.ndarray:
    rows, cols = np.indices((length, length))
    return cols <= rows


def padding_mask(lengths: Sequence[int], max_len: int) -> np.ndarray:
    positions = np.arange(max_len)
    return positions[np.newaxis, np.newaxis, :] < np.asarray(lengths).reshape(-1, 1, 1)


def split_heads(x: np.ndarray, h: int) -> np.ndarray:
    batch, length, width = x.shape
    if width % h:
        raise ValueError(f"width {width} is not divisible by {h} heads")
    return np.einsum("bthd->bhtd", x.reshape(batch, length, h, width // h))


def merge_heads(x: np.ndarray) -> np.ndarray:
    batch, h, length, d_head = x.shape
    return np.einsum("bhtd->bthd", x).reshape(batch, length, h * d_head)


def positional_encoding(max_len: int, d: int) -> np.ndarray:
    inverse_frequency = 1.0 / 10000 ** (np.arange(0, d, 2) / d)
    phase = np.einsum("t,f->tf", np.arange(max_len), inverse_frequency)
    return np.concatenate((np.sin(phase), np.cos(phase)), axis=-1)
