"""How arguments and outputs are put into a submission's own terms."""

import dataclasses

import numpy as np
import pytest

from harness.conventions.constructors import Argument
from harness.conventions.convention import AXIS_ORDERS, Convention, mapped
from harness.conventions.mask_forms import MaskForm
from harness.protocol import Handle, Tensor

CONVENTION = Convention(name="f", order=(1, 0, 2))


def test_arguments_are_put_in_the_submission_s_order():
    assert CONVENTION.arguments(("a", "b", "c")) == (("b", "a", "c"), {})


def test_an_argument_that_a_call_does_not_give_keeps_its_default():
    assert CONVENTION.arguments(("a", "b")) == (("b", "a"), {})


def test_the_last_parameters_may_take_no_positions():
    convention = Convention(name="f", order=(1, 0), keywords=("x",))
    assert convention.arguments(("a", "b")) == (("b",), {"x": "a"})


def test_a_constructor_is_called_by_the_names_of_its_parameters():
    made = (Argument(name="heads", place=1), Argument(name="d", place=0))
    convention = Convention(name="f", order=(), constructor=made)
    assert convention.made_with((12, 3)) == ((), {"heads": 3, "d": 12})


def test_a_constructor_in_the_brief_s_order_is_called_by_position():
    assert Convention(name="f", order=()).made_with((12, 3)) == ((12, 3), {})


def test_what_is_kept_is_kept_from_where_the_submission_returns_it():
    kept = Handle(7)
    assert Convention(name="f", order=(), returns=(1, 0)).kept({1: kept}) == {0: kept}


def test_an_output_that_does_not_come_back_is_left_out():
    tensor = Tensor(np.ones((2, 3, 4)), "f8")
    assert Convention(name="f", order=(), returns=(0, None)).outputs((tensor,), (2,), {}) != ()
    outs = Convention(name="f", order=(), returns=(1, None)).outputs((None, tensor), (2,), {})
    assert [out.values.shape for out in outs] == [(2, 3, 4)]


@pytest.mark.parametrize("name", AXIS_ORDERS)
def test_a_layout_that_goes_in_and_out_again_changes_nothing(name):
    layout, leading = AXIS_ORDERS[name], (1,)
    array = np.random.default_rng(1).normal(size=(1, 5, 6))
    if name == "folded":
        leading, array = (2, 3), np.random.default_rng(1).normal(size=(2, 3, 5, 6))
    np.testing.assert_array_equal(layout.returned(layout.given(array), 0, leading), array)


def test_what_is_no_array_is_never_laid_out():
    assert mapped("text", lambda array: array[0]) == "text"
    assert mapped(None, lambda array: array[0]) is None


@pytest.mark.parametrize(
    ("axes", "alike"), [("", False), ("bhqk", False), ("b1qk", True), ("qk", True), ("qkb", True)]
)
def test_a_layer_s_masks_cannot_differ_between_heads_when_they_say_nothing_of_them(axes, alike):
    known = Convention(name="f", order=(0, 1), headed=True, mask=MaskForm(axes=axes))
    assert not known.heads_alike  # a function is called for each head
    assert dataclasses.replace(known, layer=True).heads_alike is alike
