"""Positional encodings: every layout, pairing and precision that is right, and what is trivial."""

import numpy as np
import pytest

import specs
from harness.candidate.checks import run_checks, verdict
from harness.candidate.session import DirectSession
from harness.results import Outcome
from specs.reference import encodings

SPEC = specs.load("positional_encoding")
RIGHT = SPEC.assemble(SPEC.reference)


def checked(**functions):
    session = DirectSession({**RIGHT, **functions}, arrays="numpy")
    checks, _ = run_checks(SPEC, session, "seed")
    return {check.id: check for check in checks}


def backwards(x, positions):
    return encodings.rotary(x, -np.asarray(positions))


@pytest.mark.parametrize("rotary", [encodings.rotary, encodings.rotary_halves, backwards])
def test_either_pairing_and_either_direction_rotate(rotary):
    assert checked(rotary=rotary)["rotary"].outcome is Outcome.PASSED


def test_the_pairing_may_not_depend_on_the_positions():
    def rotary(x, positions):
        in_order = (np.diff(positions) == 1).all()
        return (encodings.rotary if in_order else encodings.rotary_halves)(x, positions)

    assert checked(rotary=rotary)["rotary"].outcome is Outcome.FAILED


def test_another_layout_is_named():
    result = checked(sinusoidal=encodings.concatenated)["pe-values"]
    assert result.outcome is Outcome.FAILED
    assert "right in another layout (sines, then cosines)" in result.message


@pytest.mark.parametrize("dtype", ["f4", "f2"])
def test_a_table_may_be_stored_in_a_smaller_format(dtype):
    results = checked(sinusoidal=lambda n, d: encodings.interleaved(n, d).astype(dtype))
    assert all(check.outcome is Outcome.PASSED for check in results.values())


def test_a_table_in_float16_is_no_excuse_for_other_values():
    def sinusoidal(length, width):
        return (encodings.interleaved(length, width) + 2e-3).astype("f2")

    assert checked(sinusoidal=sinusoidal)["pe-values"].outcome is Outcome.FAILED


def test_an_odd_width_is_a_note_whether_it_raises_or_not():
    def refuses(length, width):
        assert width % 2 == 0
        return encodings.interleaved(length, width)

    assert checked(sinusoidal=refuses)["pe-shape"].note == "odd d raises AssertionError"
    assert checked()["pe-shape"].note == ""


def test_what_a_bias_says_about_the_future_is_not_looked_at():
    def alibi_bias(heads, length):
        future = encodings.distances(length) < 0
        return np.where(future, -np.inf, encodings.alibi_bias(heads, length))

    assert checked(alibi_bias=alibi_bias)["alibi"].outcome is Outcome.PASSED


def test_a_constant_added_to_a_row_of_the_bias_is_noted():
    def alibi_bias(heads, length):
        row = encodings.slopes(heads)[:, None, None] * np.arange(length)
        return np.broadcast_to(row, (heads, length, length))

    result = checked(alibi_bias=alibi_bias)["alibi"]
    assert result.outcome is Outcome.PASSED
    assert "shifted by a constant" in result.note


def filled(fill):
    return {name: lambda *a, f=function: fill(f(*a)) for name, function in RIGHT.items()}


TRIVIAL = {
    "zeros": filled(lambda array: array * 0),
    "ones": filled(lambda array: array * 0 + 1),
    "random": filled(lambda array: np.random.default_rng().normal(size=array.shape)),
    "the input": {**filled(lambda array: array * 0), "rotary": lambda x, positions: x},
    "nan": filled(lambda array: array * np.nan),
}


@pytest.mark.parametrize("functions", TRIVIAL.values(), ids=TRIVIAL)
def test_trivial_answers_earn_nothing(functions):
    results = checked(**functions)
    assert not [check.id for check in results.values() if check.earned]
    assert verdict(tuple(results.values())) == "failed"
