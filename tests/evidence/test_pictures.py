import numpy as np
import pytest

from harness.evidence.pictures import (
    COLUMNS,
    CURVES,
    ROWS,
    Judged,
    Window,
    curves,
    heat,
    is_identity,
    rearrangement,
    visibility,
)
from harness.results import Reach
from harness.spec.comparison import Expected


def judged(expected, actual, name="weights", compared=None, probabilities=True):
    expected, actual = np.asarray(expected, float), np.asarray(actual, float)
    with np.errstate(invalid="ignore"):
        wrong = ~(np.abs(actual - expected) <= 1e-9)
    if compared is not None:
        wrong &= np.broadcast_to(compared, wrong.shape) | ~np.isfinite(actual)
    return Judged(
        name=name,
        actual=actual,
        expected=Expected(expected, 1.0, compared),
        wrong=wrong,
        probabilities=probabilities,
    )


def test_weights_are_pictured_before_what_follows_from_them():
    out = judged([[1.0]], [[2.0]], "out", probabilities=False)
    assert heat([out, judged([[1.0, 0.0]], [[0.5, 0.5]])]).output == "weights"
    assert heat([out, judged([[1.0, 0.0]], [[1.0, 0.0]])]).output == "out"


def test_right_outputs_have_no_picture():
    assert heat([judged([[1.0]], [[1.0]])]) is None


def test_the_matrix_of_the_first_wrong_value_is_pictured():
    right = np.zeros((2, 3, 2, 2))
    found = right.copy()
    found[1, 2, 0, 1] = 5
    picture = heat([judged(right, found)])
    assert picture.place == "[1, 2]"
    assert picture.actual == ((0, 5), (0, 0))
    assert picture.wrong == ((False, True), (False, False))


def test_where_any_finite_value_is_right_none_is_expected():
    picture = heat([judged([[1, 0], [0, 0]], [[1, 0], [np.nan, 3]], compared=[[True], [False]])])
    assert picture.expected == ((1, 0), (None, None))
    assert picture.wrong == ((False, False), (True, False))
    assert picture.actual[1] == ("nan", 3)


def test_of_a_large_matrix_the_part_around_the_first_wrong_value_is_pictured():
    marks = np.zeros((50, 60), bool)
    marks[48, 30] = True
    window = Window(marks)
    assert window.corner == (50 - ROWS, 30 - COLUMNS // 2)
    assert window.cut(marks).shape == (ROWS, COLUMNS)
    assert window.cut(marks).any()
    assert window.whole == (50, 60)


@pytest.mark.parametrize("shape", [(3,), (1, 1), (2, 1, 5)])
def test_a_window_fits_an_array_of_any_rank(shape):
    assert Window(np.ones(shape, bool)).cut(np.ones(shape)).ndim == 2


def test_a_weight_of_a_blocked_key_is_a_leak_and_a_missing_one_is_lost():
    picture = visibility([judged([[1.0, 0.0], [0.5, 0.5]], [[0.8, 0.2], [1.0, 0.0]])], masked=True)
    assert picture.cells == ((Reach.OPEN, Reach.LEAK), (Reach.OPEN, Reach.LOST))
    assert picture.amounts == ((0.8, 0.2), (1, 0))


def test_wrong_weights_that_block_what_is_blocked_are_no_leak():
    assert visibility([judged([[0.7, 0.3, 0.0]], [[0.6, 0.4, 0.0]])], masked=True) is None


def test_a_weight_that_underflows_as_it_should_is_not_lost():
    picture = visibility([judged([[1.0, 1e-30, 0.0]], [[0.9, 1e-30, 0.1]])], masked=True)
    assert picture.cells == ((Reach.OPEN, Reach.OPEN, Reach.LEAK),)


def test_a_call_without_a_mask_shows_no_leak():
    assert visibility([judged([[1.0, 0.0]], [[0.8, 0.2]])], masked=False) is None


def test_a_query_without_an_allowed_key_leaks_nothing():
    one = judged([[0.0, 0.0], [1.0, 0.0]], [[0.5, 0.5], [0.5, 0.5]], compared=[[False], [True]])
    assert visibility([one], masked=True).cells[0] == (Reach.FREE, Reach.FREE)


def test_a_mask_shows_what_it_lets_through():
    one = judged(np.tri(2), np.ones((2, 2)), "mask", probabilities=False)
    assert visibility([one], masked=False).cells[0] == (Reach.OPEN, Reach.LEAK)


def test_masks_of_a_batch_lie_below_each_other():
    one = judged([[[1, 0]], [[1, 1]]], [[[1, 0]], [[1, 0]]], "mask", probabilities=False)
    picture = visibility([one], masked=False)
    assert picture.rows == "item"
    assert picture.cells[1] == (Reach.OPEN, Reach.LOST)


SOURCE = np.array([[0.5, 1.5], [2.5, 3.5]])


def test_elements_are_traced_by_their_values():
    picture = rearrangement("x", SOURCE, "y", SOURCE.T, SOURCE)
    assert picture.expected == (0, 2, 1, 3)
    assert picture.actual == (0, 1, 2, 3)


def test_a_value_from_elsewhere_has_no_place():
    assert rearrangement("x", SOURCE, "y", SOURCE.T, SOURCE + 9).actual == (None,) * 4
    assert rearrangement("x", SOURCE, "y", SOURCE.T, SOURCE * np.nan).actual == (None,) * 4


def test_elements_handed_back_in_single_precision_are_traced():
    found = (SOURCE / 3).astype(np.float32).astype(float)
    assert rearrangement("x", SOURCE / 3, "y", SOURCE.T / 3, found).actual == (0, 1, 2, 3)


@pytest.mark.parametrize("expected", [SOURCE * 2, SOURCE[:1], SOURCE[[0, 0]]])
def test_an_output_that_does_more_than_move_elements_is_no_rearrangement(expected):
    assert rearrangement("x", SOURCE, "y", expected, SOURCE) is None


def test_equal_values_cannot_be_traced():
    assert rearrangement("x", np.ones((2, 2)), "y", np.ones((2, 2)), np.ones((2, 2))) is None


def test_the_first_wrong_columns_of_a_long_table_are_curves():
    right = np.zeros((30, 9))
    found = right.copy()
    found[:, 2:] = 1
    picture = curves("f(30, 9)", judged(right, found, "encoding"))
    assert picture.columns == tuple(range(2, 2 + CURVES))
    assert (picture.wrong, picture.total) == (7, 9)
    assert picture.actual[0] == (1,) * 30


def test_a_short_table_has_no_curves():
    assert curves("f", judged(np.zeros((5, 2)), np.ones((5, 2)))) is None


def test_the_identity_is_known_in_any_batch():
    assert is_identity(np.broadcast_to(np.eye(3), (2, 3, 3)))
    assert not is_identity(np.ones((2, 2)))
    assert not is_identity(np.ones(3))
    assert not is_identity(np.eye(3, dtype=bool))
