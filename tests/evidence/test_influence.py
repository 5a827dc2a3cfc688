"""Changing one place after another shows which rows it reaches, and which heads."""

import numpy as np
import pytest

from harness.evidence.influence import Change, of_positions, of_slices
from harness.results import Reach

HEADS, WIDTH = 2, 3
FEATURES = HEADS * WIDTH
OPEN, CLOSED, LEAK, LOST = Reach.OPEN, Reach.CLOSED, Reach.LEAK, Reach.LOST


def perturbed(follow):
    """Calls that change one position after another; ``follow`` maps values to outputs."""
    value = np.arange(3.0)[:, None]
    calls = []
    for place in (None, 1, 2):
        changed = value.copy()
        if place is not None:
            changed[place] += 100
        calls.append(Change([changed], follow(changed), np.tri(3) @ changed))
    return calls


def test_a_row_that_moves_with_a_later_position_is_a_leak():
    picture = of_positions(perturbed(lambda value: np.tri(3, k=1) @ value))
    assert picture.corner == (0, 1)
    assert picture.cells == (
        (LEAK, CLOSED),
        (OPEN, LEAK),
        (OPEN, OPEN),
    )


def test_a_row_that_does_not_see_its_own_position_has_lost_it():
    picture = of_positions(perturbed(lambda value: np.tri(3, k=-1) @ value))
    assert picture.cells[1] == (LOST, CLOSED)


def test_calls_that_move_what_they_should_show_nothing():
    assert of_positions(perturbed(lambda value: np.tri(3) @ value)) is None


def test_calls_that_differ_in_several_positions_show_nothing():
    base, *_ = perturbed(lambda value: value)
    other = Change([base.arguments[0] + 1], base.actual + 1, base.expected)
    assert of_positions([base, other]) is None
    assert of_positions([]) is None


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
    assert of_slices(calls(lambda q, v: v + q), "qv") is None


def test_a_slice_that_comes_from_another_head_is_shown():
    picture = of_slices(calls(lambda q, v: rolled(v) + q), "qv")
    assert (picture.rows, picture.columns) == ("out slice", "v slice")
    assert picture.cells == ((LOST, LEAK), (LEAK, LOST))


def test_an_argument_is_shown_whose_slices_are_mixed():
    picture = of_slices(calls(lambda q, v: v + q + q.mean(-1, keepdims=True)), "qv")
    assert picture.columns == "q slice"
    assert picture.cells == ((OPEN, LEAK), (LEAK, OPEN))


def test_where_two_arguments_are_mixed_the_last_is_shown():
    mixed = of_slices(calls(lambda q, v: rolled(v) + q.mean(-1, keepdims=True)), "qv")
    assert mixed.columns == "v slice"


def test_a_mixture_within_one_head_is_none_of_heads():
    flipped = lambda v: v.reshape(2, 4, HEADS, WIDTH)[..., ::-1].reshape(v.shape)  # noqa: E731
    assert of_slices(calls(lambda q, v: flipped(v) + q), "qv") is None


def test_a_slice_that_moves_nothing_and_should_not_is_closed():
    first = np.eye(FEATURES)[:WIDTH].sum(0)
    found = calls(lambda q, v: v * first + v.sum(-1, keepdims=True), right=lambda q, v: v * first)
    assert of_slices(found, "qv").cells == ((OPEN, LEAK), (LEAK, LEAK))
    found = calls(lambda q, v: 0 * v, right=lambda q, v: v * first)
    assert of_slices(found, "qv").cells == ((LOST, CLOSED), (CLOSED, CLOSED))


@pytest.mark.parametrize("found", [[], calls(lambda q, v: v)[:1], calls(lambda q, v: v * np.nan)])
def test_what_cannot_be_compared_has_no_picture(found):
    assert of_slices(found, "qv") is None


def test_calls_that_change_nothing_or_their_shape_have_no_picture():
    one, *others = calls(lambda q, v: rolled(v))
    assert of_slices([one, one], "qv") is None
    longer = Change([np.ones((2, 5, FEATURES))] * 2, one.actual, one.expected)
    assert of_slices([one, *others, longer], "qv") is None
