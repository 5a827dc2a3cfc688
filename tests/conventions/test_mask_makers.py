"""Functions that make masks may mean by them what the attention beside them takes."""

import pytest

from tests.conventions.test_inference import graded

ATTENTION = """
import numpy as np


def attention(Q, K, V, mask=None):
    scores = Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1])
    if mask is not None:
        scores = {masked}
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    return weights @ V, weights


def causal_mask(length):
    return {causal}
"""
BLOCKS, KEEPS = "np.where(mask, -1e9, scores)", "np.where(mask, scores, -1e9)"
FUTURE, PAST = "np.triu(np.ones((length, length), bool), 1)", "np.tri(length, dtype=bool)"
SAID = "marks what is blocked, as the mask of the attention beside it does"


@pytest.mark.parametrize(
    ("masked", "causal", "verdict", "said"),
    [
        (BLOCKS, FUTURE, "passed", SAID),
        ("scores + mask", f"np.where({FUTURE}, -1e9, 0.0)", "passed", SAID),
        (BLOCKS, PAST, "passed", None),
        (KEEPS, FUTURE, "failed", None),  # beside attention by the brief it is the mistake it is
        (BLOCKS, "np.triu(np.ones((length, length), bool))", "failed", None),
    ],
    ids=["both block", "both are added", "only attention blocks", "only the maker", "no diagonal"],
)
def test_a_maker_is_read_as_the_attention_beside_it(masked, causal, verdict, said, tmp_path):
    file = tmp_path / "numpy_attention" / "answer.py"
    file.parent.mkdir()
    file.write_text(ATTENTION.format(masked=masked, causal=causal), encoding="utf-8")
    result = graded(file, adapt=True)
    assert result.verdict == verdict, [c.message for c in result.checks if c.outcome.is_missed]
    assert result.conventions.get("causal_mask") == said
