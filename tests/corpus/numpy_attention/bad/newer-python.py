import numpy as np

type Array = np.ndarray


def softmax[T: Array](x: T, axis: int = -1) -> T:
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def attention(Q: Array, K: Array, V: Array, mask: Array | None = None) -> tuple[Array, Array]:
    scores = Q @ K.swapaxes(1, 2) / np.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -1e9)
    return (weights := softmax(scores)) @ V, weights
