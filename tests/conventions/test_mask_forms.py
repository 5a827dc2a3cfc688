"""The forms that a mask may have, and what is said of them."""

import numpy as np
import pytest

from harness.conventions.mask_forms import ADDED, MaskForm, forms

WHOLE = np.array([[[True, False, True]] * 2, [[True, True, False]] * 2])


@pytest.mark.parametrize(
    ("form", "words"),
    [
        (MaskForm(), ""),
        (MaskForm(meaning="block"), "True blocks"),
        (MaskForm(kind="int"), "1 may attend"),
        (MaskForm(meaning="additive", kind="float"), "added to the scores"),
        (MaskForm(axes="qk"), "True may attend, of shape (Tq, Tk)"),
        (MaskForm(meaning="lengths", kind="int", axes="b"), "the number of keys of each item"),
    ],
)
def test_a_form_is_said_in_words_where_it_differs_from_the_brief_s(form, words):
    assert form.words(MaskForm()) == words


def test_blocked_keys_are_the_ones_that_a_blocking_mask_holds():
    np.testing.assert_array_equal(MaskForm(meaning="block").write(WHOLE, "bqk", float), ~WHOLE)


def test_an_additive_mask_adds_nothing_to_what_is_allowed():
    written = MaskForm(meaning="additive", kind="float").write(WHOLE, "bqk", np.float32)
    assert written.dtype == np.float32
    np.testing.assert_array_equal(written == 0, WHOLE)
    assert written.min() == np.float32(ADDED)


def test_lengths_count_the_allowed_keys():
    form = MaskForm(meaning="lengths", kind="int", axes="b")
    np.testing.assert_array_equal(form.write(WHOLE, "bqk", float), [2, 2])


def test_axes_that_a_form_leaves_out_are_dropped_and_ones_are_put_in():
    heads = WHOLE[:, None]
    assert MaskForm(axes="b1qk").write(heads, "bhqk", float).shape == (2, 1, 2, 3)
    np.testing.assert_array_equal(MaskForm(axes="bk").write(WHOLE, "bqk", float), WHOLE[:, 0])


@pytest.mark.parametrize("headed", [False, True])
@pytest.mark.parametrize("meaning", ["keep", "block"])
def test_the_brief_s_own_form_is_tried_first_and_each_once(headed, meaning):
    tried = list(forms(MaskForm(meaning=meaning), headed))
    assert tried[0] == MaskForm(meaning=meaning)
    assert len(tried) == len(set(tried))
