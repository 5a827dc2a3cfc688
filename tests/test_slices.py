"""Slices of the features show which heads an output is made of."""

import numpy as np
import pytest

from harness.results import Reach
from harness.slices import Change, slices

HEADS, WIDTH = 2, 3
FEATURES = HEADS * WIDTH
OPEN, CLOSED, LEAK, LOST = Reach.OPEN, Reach.CLOSED, Reach.LEAK, Reach.LOST


def calls(layer, right=lambda q, v: v + q):
    """Change each slice of q, and then each feature of v."""
    draw = np.random.default_rng(1)
    query, value = draw.normal(size=(2, 2, 4, FEATURES))
    given = [(query, value)]
    for head in range(HEADS):
        turned = query.copy()
        turned[..., head * WIDTH : (head + 1) * WIDTH] *= -1.5
        given.append((turned, value))
    given += [(query, value + 64 * np.eye(FEATURES)[feature]) for feature in range(FEATURES)]
    return [Change(one, layer(*one), right(*one)) for one in given]


def rolled(array):
    return np.roll(array, WIDTH, axis=-1)


def test_heads_that_are_kept_apart_have_no_picture():
    assert slices(calls(lambda q, v: v + q), "qv") is None


def test_a_slice_that_comes_from_another_head_is_shown():
    picture = slices(calls(lambda q, v: rolled(v) + q), "qv")
    assert (picture.rows, picture.columns) == ("out slice", "v slice")
    assert picture.cells == ((LOST, LEAK), (LEAK, LOST))


def test_an_argument_is_shown_whose_slices_are_mixed():
    picture = slices(calls(lambda q, v: v + q + q.mean(-1, keepdims=True)), "qv")
    assert picture.columns == "q slice"
    assert picture.cells == ((OPEN, LEAK), (LEAK, OPEN))


def test_a_mixture_within_one_head_is_none_of_heads():
    flipped = lambda v: v.reshape(2, 4, HEADS, WIDTH)[..., ::-1].reshape(v.shape)  # noqa: E731
    assert slices(calls(lambda q, v: flipped(v) + q), "qv") is None


def test_a_slice_that_moves_nothing_and_should_not_is_closed():
    first = np.eye(FEATURES)[:WIDTH].sum(0)
    found = calls(lambda q, v: v * first + v.sum(-1, keepdims=True), right=lambda q, v: v * first)
    assert slices(found, "qv").cells == ((OPEN, LEAK), (LEAK, LEAK))
    found = calls(lambda q, v: 0 * v, right=lambda q, v: v * first)
    assert slices(found, "qv").cells == ((LOST, CLOSED), (CLOSED, CLOSED))


@pytest.mark.parametrize("found", [[], calls(lambda q, v: v)[:1], calls(lambda q, v: v * np.nan)])
def test_what_cannot_be_compared_has_no_picture(found):
    assert slices(found, "qv") is None


def test_calls_that_change_nothing_or_their_shape_have_no_picture():
    one, *others = calls(lambda q, v: rolled(v))
    assert slices([one, one], "qv") is None
    longer = Change([np.ones((2, 5, FEATURES))] * 2, one.actual, one.expected)
    assert slices([one, *others, longer], "qv") is None
