"""Attention of other kinds is recognised by what it says of itself, and by nothing else."""

import pytest

import specs
from harness.candidate.session import Definition, Parameter
from harness.conventions.other_assignments import other_assignment

(POINT,) = specs.load("torch_multi_head").entry_points


def announced(name, *takes):
    return other_assignment(POINT, Definition(name=name, kind="class", takes=takes))


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("MultiQueryAttention", "multi-query attention"),
        ("MQA", "multi-query attention"),
        ("GroupedQueryAttention", "grouped-query attention"),
        ("CausalGQA", "grouped-query attention"),
        ("SlidingWindowAttention", "attention in a window"),
        ("RotaryMultiHeadAttention", "attention with rotary positions"),
    ],
)
def test_a_name_says_what_it_is(name, what):
    said = announced(name)
    assert said == f"{name} is {what} by its name, expected {POINT.name}; nothing is graded"


@pytest.mark.parametrize("name", ["num_kv_heads", "n_kv_heads", "kv_heads", "window_size"])
def test_a_parameter_says_so_too_under_the_name_of_the_brief(name):
    assert f", {name}, which {POINT.name} has not" in announced(POINT.name, Parameter(name))


def test_a_parameter_that_can_be_left_out_says_nothing():
    assert not announced(POINT.name, Parameter("window", default=True, value=None))


@pytest.mark.parametrize("name", [POINT.name, "MHA", "MultiHeadQueryKeyValue", "Attention"])
def test_other_names_say_nothing(name):
    assert not announced(name, Parameter("d_model"), Parameter("num_heads"))
