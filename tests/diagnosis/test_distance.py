"""Wrong answers are recognised as well as right ones."""

import numpy as np
import pytest

from harness.candidate.functions import Recorded
from harness.diagnosis.distance import (
    differ,
    distance,
    outputs,
    raised_alike,
    same,
    strided,
    usable,
)
from harness.errors import CandidateRaised
from harness.protocol import Answer, Opaque, Tensor, Unsupported
from harness.spec.comparison import Expected
from harness.spec.spec import EntryPoint

POINT = EntryPoint(role="f", name="f", parameters=("x",), returns=("out",))
X = np.array([[1.0, 2.0], [3.0, 4.0]])


def call(*outs, argument=X, raised=None):
    answer = Answer(outs=outs) if raised is None else Answer(raised=CandidateRaised(raised, "no"))
    return Recorded(check="c", point=POINT, arguments=(argument,), answer=answer)


def expected(values, roundoffs=32.0, compared=None):
    return (Expected(np.asarray(values, np.float64), roundoffs, compared),)


def tensor(values, dtype="f8"):
    return Tensor(np.asarray(values), dtype)


def test_the_same_values_are_at_no_distance():
    found = distance(call(tensor(X)), expected(X))
    assert (found.bounds, found.difference) == (0.0, 0.0)
    assert found.is_fine


def test_another_value_does_not_fit():
    assert not distance(call(tensor(X + 0.1)), expected(X)).fits


def test_a_difference_is_relative_to_the_largest_value():
    found = distance(call(tensor(X * 1e5 + 0.4)), expected(X * 1e5))
    assert found.difference == pytest.approx(1e-6)


@pytest.mark.parametrize("shown", [-3e38, 1e9, np.inf, np.nan])
def test_a_fill_that_shows_in_both_fits_whatever_it_is(shown):
    right, given = np.where(X == 2, -1e9, X), np.where(X == 2, shown, X)
    assert distance(call(tensor(given)), expected(right)).fits
    assert not distance(call(tensor(given)), expected(X)).fits
    assert not distance(call(tensor(X)), expected(right)).fits


def test_float32_inside_float64_fits_and_is_not_fine():
    rounded = (X * 1.1).astype(np.float32).astype(np.float64)
    found = distance(call(tensor(rounded)), expected(X * 1.1))
    assert found.fits
    assert not found.is_fine


def test_a_bound_into_which_nan_went_is_the_largest_value_and_warns_of_nothing():
    given = expected(X, lambda: X - np.full((2, 2), np.inf) * np.zeros((2, 2)))
    assert distance(call(tensor(X + 1e-14)), given).fits
    assert not distance(call(tensor(X + 1e-10)), given).is_fine


def test_nan_fits_where_nan_is_expected_and_nowhere_else():
    wrong = np.where(X == 2, np.nan, X)
    assert distance(call(tensor(wrong)), expected(wrong)).is_fine
    assert not distance(call(tensor(wrong)), expected(X)).fits
    assert not distance(call(tensor(X)), expected(wrong)).fits


def test_rows_that_no_criterion_compares_agree_when_both_are_finite():
    rows = np.array([[True], [False]])
    other = np.array([[1.0, 2.0], [9.0, 9.0]])
    assert distance(call(tensor(other)), expected(X, compared=rows)).is_fine
    nan = np.array([[1.0, 2.0], [np.nan, 9.0]])
    assert not distance(call(tensor(nan)), expected(X, compared=rows)).fits


@pytest.mark.parametrize(
    "out", [None, "text", Opaque("object"), Unsupported("complex128", (2, 2)), tensor(X[:1]), 3.0]
)
def test_what_is_no_such_array_fits_nothing(out):
    assert not distance(call(out), expected(X)).fits


def test_a_call_that_raised_fits_an_implementation_that_raises():
    assert distance(call(raised="ValueError"), "IndexError").fits
    assert not distance(call(raised="ValueError"), expected(X)).fits
    assert not distance(call(tensor(X)), "ValueError").fits


def test_exceptions_are_alike_by_kind_and_so_are_refusals_and_shapes_that_do_not_fit():
    assert raised_alike(call(raised="ValueError"), "ValueError")
    assert not raised_alike(call(raised="ValueError"), "TypeError")
    assert raised_alike(call(raised="NotByHand"), "ImportError")
    assert raised_alike(call(raised="RuntimeError"), "ValueError")
    assert not raised_alike(call(tensor(X)), "ImportError")


def test_nothing_can_be_said_of_what_is_random():
    assert distance(call(tensor(X)), ()).fits


def test_an_implementation_that_raises_gives_the_name_of_what_it_raises():
    def refuse(x):
        raise IndexError("no")

    assert outputs(call(tensor(X)), {"f": refuse}) == "IndexError"


def test_implementations_are_the_same_up_to_a_few_roundoffs():
    assert same(expected(X), expected(X * (1 + 1e-15)))
    assert not same(expected(X), expected(X * (1 + 1e-9)))
    assert not same(expected(X), expected(X.T[:1]))
    assert same("ValueError", "IndexError")
    assert not same("ValueError", expected(X))


def test_an_argument_lies_in_memory_as_the_submission_got_it():
    given = strided(Tensor(X, "f8", transposed=True))
    np.testing.assert_array_equal(given, X)
    assert not given.flags.c_contiguous


def test_half_formats_hide_which_function_was_computed():
    assert usable(call(tensor(X), argument=X.astype(np.float32)))
    assert not usable(call(tensor(X), argument=Tensor(X.astype(np.float16), "f2")))


OTHER = X + 0.5


@pytest.mark.parametrize(
    ("calls", "is_random"),
    [
        ([call(tensor(X)), call(tensor(X))], False),
        ([call(tensor(X)), call(tensor(OTHER))], True),
        ([call(tensor(X)), call(tensor(OTHER), argument=OTHER)], False),
        ([call(tensor(X)), call(tensor(X * (1 + 1e-15)))], False),
        ([call(tensor(X)), call(tensor(OTHER), argument=tensor(X.copy()))], True),
        ([call(tensor(X)), call(tensor(OTHER), argument=Tensor(X, "f8", transposed=True))], False),
        ([call(tensor(X * np.nan)), call(tensor(X * np.nan))], False),
        ([call(tensor(X)), call(tensor(np.where(X == 1, np.nan, X)))], True),
        ([call(tensor(X)), call(tensor(X[0]))], True),
        ([call(tensor(X * np.inf)), call(tensor(X * np.inf))], False),
        ([call(tensor(X)), call(raised="ValueError")], False),
    ],
)
def test_equal_calls_differ_where_their_arguments_and_memory_are_equal_and_not_their_outputs(
    calls, is_random
):
    assert differ(calls) is is_random
