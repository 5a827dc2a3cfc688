import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.spec.draw import Draw


def test_equal_seed_and_check_draw_the_same():
    one, two = Draw("s", "scale"), Draw("s", "scale")
    assert np.array_equal(one.normal(4, 3), two.normal(4, 3))


@pytest.mark.parametrize(("seed", "check"), [("s", "definition"), ("t", "scale"), ("s/", "scale")])
def test_another_seed_or_check_draws_something_else(seed, check):
    assert not np.array_equal(Draw("s", "scale").normal(4), Draw(seed, check).normal(4))


def test_what_one_check_draws_does_not_depend_on_what_another_drew():
    other, draw = Draw("s", "other"), Draw("s", "scale")
    other.normal(100)
    assert np.array_equal(draw.normal(4), Draw("s", "scale").normal(4))


def test_normal_draws_have_the_scale_the_shape_and_the_dtype_asked_for():
    drawn = Draw("s", "c").normal(100, 200, scale=3.0, dtype="f4")
    assert drawn.shape == (100, 200)
    assert drawn.dtype == np.float32
    assert abs(float(drawn.mean())) < 6 * 3 / 20_000**0.5
    assert float(drawn.std()) == pytest.approx(3, rel=0.05)


def test_uniform_and_whole_draws_stay_in_their_range():
    draw = Draw("s", "c")
    uniform = draw.uniform(1000, low=2.0, high=3.0)
    assert ((uniform >= 2) & (uniform < 3)).all()
    assert set(draw.integers(1000, low=1, high=4)) == {1, 2, 3}


@given(st.text(max_size=5), st.integers(2, 6))
def test_a_permutation_is_one_and_moves_something(seed, length):
    order = Draw(seed, "c").permutation(length)
    assert sorted(order) == list(range(length))
    assert (order != np.arange(length)).any()


@given(st.text(max_size=5), st.lists(st.integers(1, 4), max_size=3), st.integers(2, 6),
       st.sampled_from([0.0, 0.3, 0.6, 1.0]))  # fmt: skip
def test_every_row_of_a_mask_keeps_a_key_and_blocks_one(seed, leading, keys, keep):
    mask = Draw(seed, "c").mask(*leading, keys, keep=keep)
    assert mask.dtype == bool
    assert mask.shape == (*leading, keys)
    assert mask.any(-1).all()
    assert not mask.all(-1).any()


def test_masks_are_the_same_for_all_heads_of_an_item_where_that_is_asked_for():
    mask = Draw("seed", "c", heads_alike=True).mask(2, 3, 5, 7)
    assert (mask == mask[:, :1]).all()
    assert (mask[0] != mask[1]).any()
