import contextlib
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from harness.errors import CheckFailed
from harness.protocol import Opaque, Tensor, Unsupported
from harness.spec.comparison import (
    COARSER,
    ROUNDOFF,
    UNDERFLOW,
    Expected,
    Judge,
    compare,
    tensor,
    tolerance_dtype,
)

RIGHT = np.array([[1.0, -2.0, 3.0], [0.5, 0.25, 0.0]])
#: 100 roundoffs everywhere.
EXPECTED = Expected(RIGHT, 100.0)
FORMATS = {"f8": np.float64, "f4": np.float32, "f2": np.float16}


def answer(values, dtype="f8"):
    return Tensor(np.asarray(values), dtype)


def off_by(bounds, dtype="f8", held=None, where=(0, 1)):
    """The right values, one of which is off by so many rounding bounds of a format."""
    values = RIGHT.copy()
    values[where] += bounds * ROUNDOFF[held or dtype] * 100
    return answer(values, dtype)


def failure(output, expected=EXPECTED, **options):
    with pytest.raises(CheckFailed) as caught:
        compare(output, expected, "out", **options)
    return caught.value


def test_the_right_values_are_fine():
    assert compare(answer(RIGHT), EXPECTED, "out") == 0


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_an_error_within_the_bound_is_fine(dtype):
    assert 0.9 < compare(off_by(0.95, dtype), EXPECTED, "out") <= 1


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_an_error_within_the_coarser_bound_is_imprecise(dtype):
    coarsest = COARSER[dtype] / ROUNDOFF[dtype]
    worst = compare(off_by(0.99 * coarsest, dtype), EXPECTED, "out")
    assert worst == pytest.approx(0.99 * coarsest, rel=1e-3)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_an_error_beyond_the_coarser_bound_is_wrong(dtype):
    coarsest = COARSER[dtype] / ROUNDOFF[dtype]
    mismatch = failure(off_by(1.01 * coarsest, dtype)).mismatch
    assert mismatch.ratio == pytest.approx(1.01 * coarsest, rel=1e-3)


@pytest.mark.parametrize("dtype", ["f2", "bf2"])
def test_half_precision_has_no_coarser_band(dtype):
    assert compare(off_by(0.99, dtype), EXPECTED, "out", precision=dtype) <= 1
    failure(off_by(1.01, dtype), precision=dtype)


@pytest.mark.parametrize(("dtype", "lost"), [("f8", 1e-310), ("f4", 1e-40)])
def test_what_underflows_is_no_error(dtype, lost):
    expected = Expected(np.array([1.0, lost]), np.array([8.0, 8 * lost]))
    assert compare(answer([1.0, 0.0], dtype), expected, "out") <= 1
    failure(answer([1.0, 1e-30], dtype), expected)


def test_where_no_rounding_is_allowed_nothing_underflows():
    failure(answer([1e-40], "f4"), Expected(np.zeros(1), 0.0))


def test_an_answer_exactly_at_the_bound_is_fine():
    exact = Expected(np.zeros(1), 4.0)
    assert compare(answer([4 * ROUNDOFF["f8"]]), exact, "out") == 1


@pytest.mark.parametrize(
    ("dtype", "precision", "held"),
    [
        ("f8", "f4", "f8"),
        ("f4", "f4", "f4"),
        ("f2", "f4", "f4"),
        ("bf2", "f4", "f4"),
        ("f2", "f2", "f2"),
        ("bf2", "bf2", "bf2"),
        ("f4", "f2", "f4"),
        ("bf2", "f2", "f2"),
        ("i8", "f4", "f8"),
        ("b1", "f2", "f8"),
    ],
)
def test_an_answer_is_held_to_its_own_format_or_that_of_the_inputs(dtype, precision, held):
    assert tolerance_dtype(dtype, precision) == held


@pytest.mark.parametrize("dtype", ["f2", "bf2"])
def test_rounding_to_half_precision_buys_no_tolerance(dtype):
    values = RIGHT + 1e-3
    assert compare(Tensor.rounded(values, dtype), EXPECTED, "out", precision=dtype) <= 1
    failure(Tensor.rounded(values, dtype))


BROKEN = (np.nan, np.inf, -np.inf)


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2"])
@pytest.mark.parametrize("broken", BROKEN)
@pytest.mark.parametrize("everywhere", [True, False], ids=["everywhere", "once"])
def test_a_value_that_is_not_finite_is_wrong(dtype, broken, everywhere):
    values = RIGHT.astype(FORMATS[dtype])
    values[... if everywhere else (1, 2)] = broken
    error = failure(answer(values, dtype), precision=dtype)
    assert "NaN or infinite" in str(error)
    assert error.mismatch.differing == (6 if everywhere else 1)
    assert error.mismatch.actual == str(broken)


@pytest.mark.parametrize("broken", BROKEN)
def test_a_value_that_is_not_finite_is_wrong_whatever_is_expected(broken):
    failure(answer(np.full(3, broken)), Expected(np.full(3, broken), 1e300))


@pytest.mark.parametrize("broken", BROKEN)
def test_expecting_a_value_that_is_not_finite_accepts_nothing(broken):
    failure(answer(np.zeros(3)), Expected(np.full(3, broken), 1e300))


@pytest.mark.parametrize("roundoffs", [0.0, 1.0, math.nan])
def test_a_bound_of_nothing_or_nan_accepts_no_error(roundoffs):
    failure(answer(RIGHT + 1), Expected(RIGHT, roundoffs))


def test_a_bound_of_nothing_accepts_the_exact_values():
    assert compare(answer(RIGHT), Expected(RIGHT), "out") == 0
    failure(answer(np.nextafter(RIGHT, 9)), Expected(RIGHT))


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0), (6,), (3, 2), (1, 2, 3), (2, 3, 1)])
def test_another_shape_is_wrong(shape):
    error = failure(answer(np.zeros(shape)))
    assert "expected (2, 3)" in str(error)
    assert error.mismatch is None


@pytest.mark.parametrize("shape", [(), (1,), (3,), (1, 3), (2, 1), (1, 1), (1, 1, 1)])
def test_nothing_is_broadcast(shape):
    failure(answer(np.ones(shape)), Expected(np.ones((2, 3)), 1e9))


def test_an_array_of_another_shape_is_compared_with_nothing_however_large_it_is():
    enormous = np.broadcast_to(np.zeros(()), (1 << 20, 1 << 20))
    assert "(1048576, 1048576)" in str(failure(answer(enormous)))


@pytest.mark.parametrize(
    ("output", "what"),
    [
        (None, "out is None"),
        ("0.5", "out is str"),
        (Opaque("evil.AlwaysEqual"), "out is a evil.AlwaysEqual"),
        (Unsupported("complex128", (2, 3)), "out has dtype complex128"),
        (Unsupported("object", (2, 3)), "out has dtype object"),
        (Unsupported("longdouble", (2, 3)), "out has dtype longdouble"),
        (1.0, "out has shape ()"),
        (True, "out has shape ()"),
        (2**63 - 1, "out has shape ()"),
    ],
)
def test_what_is_no_array_of_numbers_is_wrong_and_is_named(output, what):
    assert what in str(failure(output))


def test_a_plain_number_is_an_array_without_dimensions():
    assert compare(0.5, Expected(np.array(0.5)), "out") == 0
    assert tensor(3, "out", ()).values == 3.0


@pytest.mark.parametrize("dtype", ["b1", "i1", "i2", "i4", "i8", "u1"])
def test_whole_numbers_and_bools_are_compared_as_the_numbers_they_are(dtype):
    counts = np.array([0, 1, 1])
    given = Tensor.rounded(counts, dtype)
    assert compare(given, Expected(counts.astype(float)), "out") == 0
    failure(given, Expected(counts + 0.001, 1.0))


def test_unsigned_numbers_do_not_wrap_around():
    failure(Tensor.rounded(np.array([255]), "u1"), Expected(np.array([-1.0]), 1.0))


def test_what_is_not_compared_may_be_anything():
    values = RIGHT.copy()
    values[0] = [np.nan, np.inf, 1e300]
    seen = np.array([[False], [True]])
    assert compare(answer(values), EXPECTED.where(seen), "out") == 0
    failure(answer(values), EXPECTED.where(~seen))


def test_conditions_add_up():
    once = EXPECTED.where(np.array([[True], [False]]))
    twice = once.where(np.array([[True, False, True]]))
    assert twice.compared.tolist() == [[True, False, True], [False, False, False]]


def test_a_part_of_what_is_expected_keeps_its_bounds_and_what_is_compared():
    whole = Expected(RIGHT, np.array([[1.0], [2.0]]), RIGHT > 0)
    part = whole.at((slice(1, 2), slice(0, 2)))
    assert part.values.tolist() == [[0.5, 0.25]]
    assert part.roundoffs.tolist() == [[2.0, 2.0]]
    assert part.compared.tolist() == [[True, True]]


def test_bounds_are_computed_when_they_are_needed_and_once():
    asked = []
    lazy = Expected(RIGHT, lambda: asked.append(1) or 100.0)
    assert not asked
    failure(answer(RIGHT + 1), lazy)
    compare(answer(RIGHT), lazy.where(RIGHT > 0), "out")
    assert asked == [1]


def test_the_message_names_the_worst_place_and_how_many_differ():
    values = RIGHT.copy()
    values[1, 1] = 0.5
    values[0, 0] = 1.001
    error = failure(answer(values))
    assert str(error) == "out[1][1] is 0.5, expected 0.25; 2 of 6 values differ"
    assert error.mismatch.index == (1, 1)
    assert (error.mismatch.actual, error.mismatch.expected) == (0.5, 0.25)
    assert (error.mismatch.differing, error.mismatch.total) == (2, 6)
    assert error.mismatch.allowed == pytest.approx(100 * ROUNDOFF["f8"])


def test_an_error_that_six_digits_hardly_show_is_told_by_how_much_it_is():
    error = failure(off_by(300, "f4"))
    assert str(error).endswith(", 300 times what rounding explains; 1 of 6 values differ")


def test_an_error_too_large_for_a_float_is_wrong_and_can_be_told():
    error = failure(answer([-1e308]), Expected(np.array([1e308]), 1.0))
    assert error.mismatch.ratio == "inf"
    assert "1e+308" in str(error)


def test_a_judge_tells_once_for_each_output_how_imprecise_it_was():
    judge = Judge()
    for bounds in (0.5, 3, 7, 5):
        judge.close(off_by(bounds), EXPECTED, "out")
    judge.close(off_by(2), EXPECTED, "weights")
    judge.note("one thing")
    judge.note("one thing")
    assert judge.notes == (
        "one thing",
        "out is right but imprecise: off by 7 times what rounding explains",
        "weights is right but imprecise: off by 2 times what rounding explains",
    )


def test_a_judge_says_nothing_about_a_fine_answer():
    judge = Judge()
    judge.close(off_by(0.9), EXPECTED, "out")
    judge.exactly(answer([0.0, 1.0]), np.array([False, True]), "mask")
    assert judge.shape(answer(RIGHT), (2, 3), "out").values is not None
    assert judge.finite(answer(RIGHT), "out").dtype == "f8"
    judge.require(np.bool_(True), "it holds")
    assert judge.notes == ()


def test_a_judge_fails_what_is_not_so():
    judge = Judge()
    with pytest.raises(CheckFailed, match="the fact"):
        judge.require(np.bool_(False), "the fact")
    with pytest.raises(CheckFailed, match=r"out has shape \(2, 3\), expected \(3, 2\)"):
        judge.shape(answer(RIGHT), (3, 2), "out")
    with pytest.raises(CheckFailed, match="out has 1 of 2 values that are NaN or infinite"):
        judge.finite(answer([1.0, np.nan]), "out")
    with pytest.raises(CheckFailed, match="1 of 2 values differ"):
        judge.exactly(answer([True, True], "b1"), np.array([False, True]), "mask")


def judged(*answers, **options):
    """A judge that was given answers, whether it accepted them or not."""
    judge = Judge()
    with contextlib.suppress(CheckFailed):
        for given in answers:
            judge.close(given, EXPECTED, "out", **options)
    return judge


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize(
    ("accepted", "is_near"), [(0.05, False), (0.1, True), (0.9, True), (50, True), (200, False)]
)
def test_an_error_near_what_is_accepted_is_borderline(dtype, accepted, is_near):
    judge = judged(off_by(accepted * COARSER[dtype] / ROUNDOFF[dtype], dtype))
    assert (judge.is_borderline, judge.is_near_miss) == (is_near, is_near and accepted > 1)


def test_half_precision_is_borderline_from_half_of_its_bound():
    assert not judged(off_by(0.4, "f2"), precision="f2").is_borderline
    assert judged(off_by(0.7, "f2"), precision="f2").is_borderline


def test_an_answer_that_is_clearly_wrong_is_no_near_miss_whatever_was_near_before():
    near, wrong = off_by(10, "f4"), off_by(1e6, "f4")
    broken = answer(RIGHT * np.nan, "f4")
    assert judged(near).is_borderline
    for last in (wrong, broken, answer([1.0], "f4"), None):
        assert not judged(near, last).is_near_miss


def test_a_limit_that_right_answers_keep_away_from_has_a_borderline_too():
    found = {}
    for error in (0.05, 0.5, 5.0, 500.0, math.nan):
        judge = Judge()
        with contextlib.suppress(CheckFailed):
            judge.within(error, 1.0, "the fact")
        found[error] = judge.is_borderline, judge.is_near_miss
    assert list(found.values()) == [
        (False, False),
        (True, False),
        (True, True),
        (False, False),
        (False, False),
    ]
    with pytest.raises(CheckFailed, match="the fact"):
        Judge().within(math.nan, 1.0, "the fact")


FLOATS = st.floats(allow_nan=True, allow_infinity=True)


@given(FLOATS, FLOATS, st.floats(0, 1e30) | st.just(math.nan), st.sampled_from(["f8", "f4"]))
def test_what_is_accepted_is_within_the_bound_as_plain_arithmetic_has_it(
    actual, right, roundoffs, dtype
):
    with np.errstate(over="ignore"):
        given = np.array([actual]).astype(FORMATS[dtype])
    expected = Expected(np.array([right]), roundoffs)
    try:
        worst = compare(answer(given, dtype), expected, "out")
    except CheckFailed:
        return
    error = abs(float(given[0]) - right)
    assert math.isfinite(float(given[0]))
    lost = UNDERFLOW if roundoffs else {"f8": 0.0, "f4": 0.0}
    assert error <= roundoffs * COARSER[dtype] + lost["f4"]
    assert (worst <= 1) == (error <= roundoffs * ROUNDOFF[dtype] + lost[dtype])


@given(st.floats(-1e6, 1e6), st.floats(0, 1e6), st.floats(0, 1))
def test_what_is_within_the_bound_is_accepted(right, roundoffs, share):
    actual = right + share * roundoffs * ROUNDOFF["f8"]
    assume(abs(actual - right) <= roundoffs * ROUNDOFF["f8"])
    assert compare(answer([actual]), Expected(np.array([right]), roundoffs), "out") <= 1


SHAPES = st.lists(st.integers(0, 3), max_size=3).map(tuple)


@given(SHAPES, SHAPES)
def test_only_the_exact_shape_is_accepted(shape, expected):
    assume(shape != expected)
    failure(answer(np.zeros(shape)), Expected(np.zeros(expected), 1e9))


def test_a_passing_answer_is_told_how_far_it_is_from_the_library():
    judge = Judge()
    outs = [(Tensor.of(np.array([1.0, 2.5])), Expected(np.array([1.0, 2.0])))]
    judge.note_difference(outs, "F.attention")
    assert judge.notes == ("largest difference from F.attention: 0.5",)
