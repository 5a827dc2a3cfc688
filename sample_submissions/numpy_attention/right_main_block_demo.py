#!/usr/bin/env python3
import argparse
import logging
import sys
import time

import numpy as np

log = logging.getLogger(__name__)


def softmax(x, axis=-1):
    log.debug("softmax over axis %d of %s", axis, x.shape)
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def attention(Q, K, V, mask=None):
    scores = Q @ K.transpose(0, 2, 1)
    scores /= np.sqrt(Q.shape[-1])
    if mask is not None:
        scores += np.where(mask, 0.0, -1e9).astype(scores.dtype)
    weights = softmax(scores)
    return weights @ V, weights


def causal_mask(length):
    return np.tril(np.ones((length, length), dtype=bool))


def padding_mask(lengths, max_len):
    return np.arange(max_len)[None, None, :] < np.asarray(lengths)[:, None, None]


def split_heads(x, h):
    B, T, D = x.shape
    if D % h:
        raise ValueError(f"cannot split {D} features into {h} heads")
    return x.reshape(B, T, h, D // h).transpose(0, 2, 1, 3)


def merge_heads(x):
    B, h, T, d = x.shape
    return x.transpose(0, 2, 1, 3).reshape(B, T, h * d)


def positional_encoding(max_len, d):
    ang = np.arange(max_len)[:, None] / np.power(10000, 2 * np.arange(d // 2) / d)
    return np.concatenate([np.sin(ang), np.cos(ang)], axis=1)


def self_test(seed):
    rng = np.random.default_rng(seed)
    Q, K, V = rng.normal(size=(3, 2, 6, 8))
    out, w = attention(Q, K, V, causal_mask(6) & padding_mask([6, 4], 6))
    assert np.allclose(w.sum(-1), 1)
    V2 = V.copy()
    V2[:, 3] += 100
    out2, _ = attention(Q, K, V2, causal_mask(6))
    assert np.allclose(attention(Q, K, V, causal_mask(6))[0][:, :3], out2[:, :3])
    X = rng.normal(size=(2, 5, 16))
    assert np.array_equal(merge_heads(split_heads(X, 4)), X)
    print("all good")


def main(argv=None):
    parser = argparse.ArgumentParser(description="attention from scratch")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("-v", "--verbose", action="store_true")
    args = parser.parse_args(argv)
    logging.basicConfig(level=logging.DEBUG if args.verbose else logging.INFO)
    start = time.perf_counter()
    self_test(args.seed)
    log.info("took %.1f ms", 1e3 * (time.perf_counter() - start))
    return 0


if __name__ == "__main__":
    sys.exit(main())
