"""What a block may differ in and be right: the ε of its norms, which the brief calls small."""

import pytest

import specs
from harness.candidate.checks import run_checks
from harness.candidate.session import DirectSession
from specs.reference.blocks import REFERENCE

SPEC = specs.load("transformer_block")


def norm_with(epsilon, *, outside=False, freedom=0):
    """A LayerNorm with another ε, inside or outside the root, or over n - 1."""

    def norm(x, weights, name):
        width = x.shape[-1]
        centred = x - x.sum(-1, keepdims=True) / width
        variance = (centred**2).sum(-1, keepdims=True) / (width - freedom)
        deviation = variance**0.5 + epsilon if outside else (variance + epsilon) ** 0.5
        return centred / deviation * weights[f"gain_{name}"] + weights[f"shift_{name}"]

    return norm


def missed(norm, seed):
    block = SPEC.assemble({**REFERENCE, "norm": norm})
    checks, _ = run_checks(SPEC, DirectSession(block, arrays="torch"), seed)
    return [check.id for check in checks if check.outcome.is_missed]


@pytest.mark.parametrize("outside", [False, True], ids=["inside", "outside"])
@pytest.mark.parametrize("epsilon", [1e-12, 1e-8, 1e-6, 1e-5])
def test_any_small_epsilon_is_right_at_every_seed(epsilon, outside, seeds):
    for seed in (*seeds, "s2", "s5"):
        assert missed(norm_with(epsilon, outside=outside), seed) == [], seed


@pytest.mark.parametrize("norm", [norm_with(1e-2), norm_with(1e-5, freedom=1)], ids=["ε", "n-1"])
def test_a_large_epsilon_and_the_sample_deviation_are_wrong(norm, seeds):
    for seed in seeds:
        assert "definition" in missed(norm, seed)
