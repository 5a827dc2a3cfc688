import numpy as np
import pytest

from harness.candidate.functions import Recorded
from harness.errors import CandidateRaised
from harness.evidence.evidence import VALUES_CAP, smallest_failure
from harness.protocol import Answer, Tensor
from tests import toy

DOUBLE, TOTAL = toy.SPEC.entry_points


def recorded(x, out, check="definition", point=DOUBLE):
    outs = out if isinstance(out, tuple) else (out,)
    answer = Answer(form="single", outs=outs)
    return Recorded(check=check, point=point, arguments=(x,), answer=answer)


def call(size, factor, check="definition"):
    x = np.arange(1.0, size + 1)
    return recorded(x, Tensor.of(factor * x), check)


def test_the_smallest_wrong_call_is_shown():
    evidence = smallest_failure(
        toy.SPEC, [call(9, 3, "large"), call(2, 2, "right"), call(3, 3, "small"), call(5, 3)]
    )
    assert evidence.check == "small"
    assert evidence.call == "double(x)"
    assert evidence.inputs["x"].values == (1, 2, 3)
    assert evidence.expected["doubled"].values == (2, 4, 6)
    assert evidence.actual["doubled"].values == (3, 6, 9)
    assert evidence.actual["doubled"].dtype == "float64"
    assert evidence.actual["doubled"].shape == (3,)


def test_right_calls_are_no_evidence():
    assert smallest_failure(toy.SPEC, [call(2, 2), call(3, 2)]) is None
    assert smallest_failure(toy.SPEC, []) is None


def test_a_call_that_raised_is_no_evidence():
    raised = Answer(raised=CandidateRaised("KeyError", "k"))
    one = Recorded(check="c", point=DOUBLE, arguments=(np.ones(2),), answer=raised)
    assert smallest_failure(toy.SPEC, [one]) is None


def test_a_call_too_large_to_read_is_no_evidence():
    assert smallest_failure(toy.SPEC, [call(4 * VALUES_CAP + 1, 3)]) is None


def test_long_arrays_are_cut_and_keep_their_shape():
    evidence = smallest_failure(toy.SPEC, [call(2 * VALUES_CAP, 3)])
    assert evidence.inputs["x"].shape == (2 * VALUES_CAP,)
    assert len(evidence.inputs["x"].values) == VALUES_CAP


@pytest.mark.parametrize("out", [None, "text", Tensor.of(np.ones((7, 7)))])
def test_an_answer_of_another_kind_or_shape_is_evidence(out):
    evidence = smallest_failure(toy.SPEC, [recorded(np.ones(2), out)])
    assert set(evidence.expected) == {"doubled"}
    assert set(evidence.actual) == ({"doubled"} if isinstance(out, Tensor) else set())


def test_values_that_are_not_finite_are_spelled():
    x = np.array([1.0, 2.0, 3.0])
    out = Tensor.of(np.array([np.nan, np.inf, -np.inf]))
    evidence = smallest_failure(toy.SPEC, [recorded(x, out)])
    assert evidence.actual["doubled"].values == ("nan", "inf", "-inf")


def test_arguments_that_are_no_arrays_are_in_the_call():
    point = toy.dataclasses.replace(DOUBLE, parameters=("x", "axis"))
    x = np.ones(2)
    answer = Answer(form="single", outs=(Tensor.of(x),))
    one = Recorded(check="c", point=point, arguments=(x, -1), answer=answer)
    spec = toy.dataclasses.replace(
        toy.SPEC, expect=lambda parts: {"double": lambda x, axis: (toy.Expected(2 * x),)}
    )
    assert smallest_failure(spec, [one]).call == "double(x, -1)"


def test_a_call_that_the_reference_refuses_is_no_evidence():
    refused = recorded(np.ones(2), Tensor.of(np.ones(2)), point=TOTAL)
    spec = toy.dataclasses.replace(toy.SPEC, expect=lambda parts: {})
    assert smallest_failure(spec, [refused]) is None


@pytest.mark.parametrize("dtype", ["f2", "bf2"])
def test_a_half_precision_answer_is_judged_by_the_precision_of_its_inputs(dtype):
    x = Tensor.rounded(np.array([1.0, 2.0, 4.0]), dtype)
    near = Tensor.rounded(2 * x.values.astype(float) * (1 + 2.0**-10), dtype)
    assert smallest_failure(toy.SPEC, [recorded(x, near)]) is None
    exact = np.arange(1.0, 4.0)
    rounded = Tensor.rounded(2 * exact * (1 + 2.0**-7), dtype)
    assert smallest_failure(toy.SPEC, [recorded(exact, rounded)]) is not None
