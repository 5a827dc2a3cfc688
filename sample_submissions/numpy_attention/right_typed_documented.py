"""Scaled dot-product attention in numpy.

Shapes used below: ``B`` batch, ``Tq`` and ``Tk`` lengths of queries and keys, ``d_k`` and ``d_v``
widths of keys and values, ``h`` number of heads.  Masks are boolean and ``True`` means *may attend*.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.floating]
BoolArray = npt.NDArray[np.bool_]

__all__ = [
    "softmax", "attention", "causal_mask", "padding_mask", "split_heads", "merge_heads", "positional_encoding",
]


def softmax(x: FloatArray, axis: int = -1) -> FloatArray:
    """Normalise ``x`` along ``axis``.

    The maximum is subtracted first, so the largest exponent is zero and nothing overflows.
    """
    exponentials = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return exponentials / np.sum(exponentials, axis=axis, keepdims=True)


def _check_shapes(Q: FloatArray, K: FloatArray, V: FloatArray) -> None:
    for name, array in (("Q", Q), ("K", K), ("V", V)):
        if array.ndim != 3:
            raise ValueError(f"{name} must be 3-D, got shape {array.shape}")
    if Q.shape[0] != K.shape[0] or K.shape[0] != V.shape[0]:
        raise ValueError("batch sizes differ")
    if Q.shape[2] != K.shape[2]:
        raise ValueError("queries and keys have different widths")
    if K.shape[1] != V.shape[1]:
        raise ValueError("every key needs exactly one value")


def attention(
    Q: FloatArray, K: FloatArray, V: FloatArray, mask: BoolArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Attend from every query to every key.

    Args:
        Q: ``(B, Tq, d_k)``.
        K: ``(B, Tk, d_k)``.
        V: ``(B, Tk, d_v)``.
        mask: broadcastable to ``(B, Tq, Tk)``.

    Returns:
        The output ``(B, Tq, d_v)`` and the weights ``(B, Tq, Tk)``. A query that may attend to
        nothing receives the plain average of the values.
    """
    _check_shapes(Q, K, V)
    scores = Q @ np.swapaxes(K, 1, 2) / np.sqrt(Q.shape[-1])
    if mask is not None:
        if mask.dtype != np.bool_:
            raise TypeError(f"the mask must be boolean, got {mask.dtype}")
        scores = np.where(mask, scores, np.finfo(scores.dtype).min / 2)
    weights = softmax(scores, axis=-1)
    return weights @ V, weights


def causal_mask(length: int) -> BoolArray:
    """Lower triangle with the diagonal: position ``i`` sees ``0 .. i``."""
    return np.tril(np.ones((length, length), dtype=np.bool_))


def padding_mask(lengths: Sequence[int] | npt.NDArray[np.integer], max_len: int) -> BoolArray:
    """``(B, 1, max_len)``: true for the first ``lengths[b]`` keys of item ``b``."""
    return np.arange(max_len)[None, None, :] < np.asarray(lengths)[:, None, None]


def split_heads(x: FloatArray, h: int) -> FloatArray:
    """``(B, T, D)`` to ``(B, h, T, D / h)``; head ``i`` takes the ``i``-th slice of the features."""
    batch, length, width = x.shape
    if width % h != 0:
        raise ValueError(f"D = {width} is not divisible by h = {h}")
    return x.reshape(batch, length, h, width // h).transpose(0, 2, 1, 3)


def merge_heads(x: FloatArray) -> FloatArray:
    """Inverse of :func:`split_heads`."""
    batch, h, length, width = x.shape
    return x.transpose(0, 2, 1, 3).reshape(batch, length, h * width)


def positional_encoding(max_len: int, d: int) -> FloatArray:
    """``(max_len, d)``: ``d / 2`` sines followed by ``d / 2`` cosines."""
    if d % 2:
        raise ValueError(f"d must be even, got {d}")
    frequencies = 10000.0 ** (-2.0 * np.arange(d // 2) / d)
    angles = np.arange(max_len)[:, None] * frequencies[None, :]
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1)
