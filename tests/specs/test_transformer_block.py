"""What a block may differ in and be right: the ε of its norms, which the brief calls small."""

import pytest

import specs
from harness.candidate.checks import run_checks
from harness.candidate.session import DirectSession
from harness.diagnosis import diagnose
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


def graded(norm, seed):
    block = SPEC.assemble({**REFERENCE, "norm": norm})
    checks, _ = run_checks(SPEC, DirectSession(block, arrays="torch"), seed)
    return {check.id: check for check in checks}


def missed(norm, seed):
    return [check.id for check in graded(norm, seed).values() if check.outcome.is_missed]


@pytest.mark.parametrize("outside", [False, True], ids=["inside", "outside"])
@pytest.mark.parametrize("epsilon", [1e-12, 1e-8, 1e-6, 1e-5])
def test_any_small_epsilon_is_right_at_every_seed(epsilon, outside, seeds):
    for seed in (*seeds, "s2", "s5"):
        assert missed(norm_with(epsilon, outside=outside), seed) == [], seed


@pytest.mark.parametrize("outside", [False, True], ids=["inside", "outside"])
@pytest.mark.parametrize("epsilon", [0, 1e-12, 1e-8, 1e-6, 1e-5])
def test_a_note_names_the_epsilon_and_where_it_is_added(epsilon, outside, seeds):
    to = "deviation" if outside else "variance"
    said = f"adds ε = {epsilon:.2g} to the {to}" if epsilon else "adds no ε"
    note = graded(norm_with(epsilon, outside=outside), seeds[0])["norm-epsilon"].note
    assert note == f"the norm before the attention {said}; the norm before the feed-forward {said}"


@pytest.mark.parametrize("outside", [False, True], ids=["inside", "outside"])
@pytest.mark.parametrize("epsilon", [2e-5, 1e-4, 1e-3])
def test_an_epsilon_beyond_the_brief_is_wrong_and_named(epsilon, outside, seeds):
    to = "deviation" if outside else "variance"
    for seed in seeds:
        check = graded(norm_with(epsilon, outside=outside), seed)["norm-epsilon"]
        said = f"the norm before the attention adds ε = {epsilon:.2g} to the {to}, expected"
        assert check.message.startswith(said)


@pytest.mark.parametrize("norm", [norm_with(1e-2), norm_with(1e-5, freedom=1)], ids=["ε", "n-1"])
def test_a_large_epsilon_and_the_sample_deviation_are_wrong(norm, seeds):
    for seed in seeds:
        assert "definition" in missed(norm, seed)


@pytest.mark.parametrize("epsilon", [1e-4, 5e-4])
def test_a_large_epsilon_that_no_number_shows_is_the_bug_that_is_named(epsilon):
    block = SPEC.assemble({**REFERENCE, "norm": norm_with(epsilon)})
    checks, recording = run_checks(SPEC, DirectSession(block, arrays="torch"), "seed")
    assert [one.flaw for one in diagnose(SPEC, recording, checks, "seed")] == ["norm-epsilon"]
