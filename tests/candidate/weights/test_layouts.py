"""Readings of a candidate's parameters: whatever the layout, the same numbers come back."""

import dataclasses

import numpy as np
import pytest

from harness.candidate.weights.candidates import possible_layouts
from harness.candidate.weights.layouts import rebuild_layout
from harness.candidate.weights.learned import Norm, Projection, draw_weights
from harness.spec.draw import Draw

D, H, d, F = 12, 3, 4, 20


def attention(width, heads):
    into = (("h", heads), ("d", width // heads))
    three = [Projection(name, (("e", width),), into, "attention") for name in "QKV"]
    return (*three, Projection("O", into, (("o", width),)))


LEARNED = attention(D, H)
ONE_HEAD = tuple(
    Projection(name, (("e", 7),), (("d", size),), "attention")
    for name, size in (("Q", 4), ("K", 4), ("V", 5))
)
BLOCK = (
    *LEARNED,
    Projection("1", (("e", D),), (("o", F),)),
    Projection("2", (("e", F),), (("o", D),)),
    Norm("1", D),
    Norm("2", D),
)


def parameters(**shapes):
    """Arrays of these shapes, as initialised: gains are ones, other vectors are not."""
    draw = Draw("parameters", "x")
    made = {}
    for name, shape in shapes.items():
        value = draw.normal(*shape)
        made[name.replace("__", ".")] = np.ones(shape) if "gain" in name else value
    return made


def linears(width, *names, sizes=None, bias=True):
    shapes, sizes = {}, sizes or (width, width)
    for name in names:
        shapes[f"{name}__weight"] = (sizes[1], sizes[0])
        if bias:
            shapes[f"{name}__bias"] = (sizes[1],)
    return shapes


def spelled(D, d):
    """Layouts of a multi-head layer of D features and d per head."""
    return {
        "separate": linears(D, "q", "k", "v", "o"),
        "without bias": linears(D, "to_q", "to_k", "to_v", "to_out", bias=False),
        "unnamed": linears(D, "linears__0", "linears__1", "linears__2", "linears__3"),
        "fused": {"qkv__weight": (3 * D, D), "qkv__bias": (3 * D,), **linears(D, "proj")},
        "keys and values fused": {**linears(D, "q", "o"), **linears(D, "kv", sizes=(D, 2 * D))},
        "raw": {"W_Q": (D, D), "W_K": (D, D), "W_V": (D, D), "W_O": (D, D)},
        "raw with biases": {
            **dict.fromkeys(("a", "b", "c", "d"), (D, D)),
            **{f"{name}_bias": (D,) for name in ("a", "b", "c", "d")},
        },
        "stacked": {"w": (4, D, D)},
        "head axes": {"wq": (H, D, d), "wk": (H, D, d), "wv": (H, D, d), "wo": (H, d, D)},
        "one module per head": {
            **{
                f"heads__{head}__{name}__weight": (d, D)
                for head in range(H)
                for name in ("query", "key", "value")
            },
            **linears(D, "proj"),
        },
        "a list per role": {
            **{
                f"{name}__{head}__{kind}": shape
                for name in ("queries", "keys", "values")
                for head in range(H)
                for kind, shape in (("weight", (d, D)), ("bias", (d,)))
            },
            **linears(D, "out"),
        },
        "kernels of size one": {f"{name}__weight": (D, D, 1) for name in ("q", "k", "v", "o")},
    }


LAYOUTS = spelled(D, d)


@pytest.mark.parametrize("shapes", LAYOUTS.values(), ids=LAYOUTS)
def test_what_is_put_into_the_parameters_is_read_from_them(shapes):
    given = parameters(**shapes)
    weights = draw_weights(LEARNED, Draw("weights", "x"))
    found = possible_layouts(given, LEARNED)
    assert found
    for layout in found:
        filled = layout.fill(weights)
        assert {name: v.shape for name, v in filled.items()}.items() <= {
            name: v.shape for name, v in given.items()
        }.items()
        for name, value in layout.read(filled).items():
            assert np.array_equal(value, weights[name]), name


@pytest.mark.parametrize("layout_name", LAYOUTS)
def test_a_layout_is_found_again_at_other_sizes(layout_name):
    layout = possible_layouts(parameters(**LAYOUTS[layout_name]), LEARNED)[0]
    bigger, learned = parameters(**spelled(18, 6)[layout_name]), attention(18, H)
    same = rebuild_layout(layout.recipe, bigger, learned, layout)
    weights = draw_weights(learned, Draw("weights", "x"))
    for name, value in same.read(same.fill(weights)).items():
        assert np.array_equal(value, weights[name]), name


def test_names_that_tell_come_first():
    layout = possible_layouts(
        parameters(**linears(D, "v_proj", "out", "k_proj", "q_proj")), LEARNED
    )[0]
    assert layout.describe() == "q_proj, k_proj, v_proj, out; with bias"


def test_without_names_the_order_of_definition_comes_first():
    layout = possible_layouts(parameters(**linears(D, "a", "b", "c", "d", bias=False)), LEARNED)[0]
    assert layout.describe() == "a, b, c, d; without bias"


def test_q_and_k_may_have_each_other_s_name():
    found = possible_layouts(parameters(**linears(D, "q", "k", "v", "o")), LEARNED)
    weights = draw_weights(LEARNED, Draw("weights", "x"))
    as_named = found[0].fill(weights)["q.weight"]
    assert any(np.array_equal(layout.fill(weights)["k.weight"], as_named) for layout in found)


def test_a_fused_matrix_is_read_role_by_role_and_head_by_head():
    found = possible_layouts(parameters(qkv__weight=(3 * D, D), **linears(D, "proj")), LEARNED)
    described = {layout.describe().partition(",")[0] for layout in found}
    assert {"qkv [q|k|v]", "qkv [q|k|v] head by head"} <= described


def test_projections_of_different_widths_may_lie_side_by_side():
    layout = possible_layouts(parameters(qkv__weight=(13, 7), qkv__bias=(13,)), ONE_HEAD)[0]
    weights = draw_weights(ONE_HEAD, Draw("weights", "x"))
    filled = layout.fill(weights)["qkv.weight"]
    assert np.array_equal(filled.T, np.hstack([weights["W_Q"], weights["W_K"], weights["W_V"]]))


def test_a_bias_that_is_not_there_is_zero():
    layout = possible_layouts(parameters(**linears(D, "q", "k", "v", "o", bias=False)), LEARNED)[0]
    effective_weights = layout.effective_weights(draw_weights(LEARNED, Draw("weights", "x")))
    assert not any(effective_weights[f"b_{name}"].any() for name in "QKVO")


def test_a_missing_output_projection_stays_a_mistake():
    layout = possible_layouts(parameters(**linears(D, "q", "k", "v")), LEARNED)[0]
    weights = draw_weights(LEARNED, Draw("weights", "x"))
    assert layout.missing == ("O",)
    assert np.array_equal(layout.effective_weights(weights)["W_O"], weights["W_O"])


def test_an_optional_output_projection_that_is_missing_is_the_identity():
    optional = [dataclasses.replace(part, optional=part.name == "O") for part in LEARNED]
    layout = possible_layouts(parameters(**linears(D, "q", "k", "v")), optional)[0]
    effective_weights = layout.effective_weights(draw_weights(optional, Draw("weights", "x")))
    assert np.array_equal(effective_weights["W_O"], np.eye(D))
    assert not effective_weights["b_O"].any()


def test_a_layout_is_found_again_without_its_optional_projection():
    layout = possible_layouts(parameters(**linears(D, "a", "b", "c", "d")), LEARNED)[0]
    optional = [dataclasses.replace(part, optional=part.name == "O") for part in LEARNED]
    fewer = parameters(**linears(D, "a", "b", "c"))
    assert rebuild_layout(layout.recipe, fewer, LEARNED, layout) is None
    assert rebuild_layout(layout.recipe, fewer, optional, layout).missing == ("O",)


def test_one_projection_for_all_is_told_from_three():
    layout = possible_layouts(parameters(**linears(D, "proj", "out")), LEARNED)[0]
    assert layout.shared == {"K": "Q", "V": "Q"}


def test_a_small_projection_for_every_head_is_recognised():
    small = linears(D, "q", "k", "v", sizes=(d, d), bias=False)
    assert possible_layouts(parameters(**small, **linears(D, "fc_out")), LEARNED)[0].per_head


def test_norms_are_found_by_their_gains_in_either_order():
    shapes = {
        **linears(D, "q", "k", "v", "o"),
        **linears(D, "up", sizes=(D, F)),
        **linears(D, "down", sizes=(F, D)),
        **dict.fromkeys(("ln_1__gain", "ln_1__bias", "ln_2__gain", "ln_2__bias"), (D,)),
    }
    first, *others = possible_layouts(parameters(**shapes), BLOCK)
    weights = draw_weights(BLOCK, Draw("weights", "x"))
    filled = first.fill(weights)
    assert np.array_equal(filled["ln_1.gain"], weights["gain_1"])
    assert np.array_equal(filled["ln_2.bias"], weights["shift_2"])
    assert any(np.array_equal(o.fill(weights)["ln_1.gain"], weights["gain_2"]) for o in others)


def test_parameters_of_other_sizes_have_no_reading():
    assert possible_layouts(parameters(**linears(D, "q", "k", sizes=(D, D + 1))), LEARNED) == []
