"""What the names of parameters tell about their roles."""

import pytest

from harness.candidate.weights.parameter_names import projections_named_by, stem


@pytest.mark.parametrize(
    ("name", "roles"),
    [
        ("q_proj.weight", "Q"),
        ("attn.wk.weight", "K"),
        ("W_V", "V"),
        ("w_vs.weight", "V"),
        ("toqueries.weight", "Q"),
        ("to_out.0.weight", "O"),
        ("unifyheads.weight", "O"),
        ("queries.*.weight", "Q"),
        ("self.linear_k.weight", "K"),
        ("to_qkv.weight", "QKV"),
        ("kqv.weight", "KQV"),
        ("to_kv.weight", "KV"),
        ("in_proj_weight", "QKV"),
        ("attn.c_attn.weight", "QKV"),
        ("attn.c_proj.weight", "O"),
        ("fc.weight", "O"),
    ],
)
def test_a_name_announces_its_projections_in_order(name, roles):
    assert projections_named_by(name) == tuple(roles)


@pytest.mark.parametrize("name", ["linears.0.weight", "blocks.1", "alpha", "查询.weight", "w1", ""])
def test_a_name_that_tells_nothing_announces_nothing(name):
    assert projections_named_by(name) == ()


@pytest.mark.parametrize(
    ("matrix", "bias"),
    [
        ("q_proj.weight", "q_proj.bias"),
        ("in_proj_weight", "in_proj_bias"),
        ("W_Q", "b_Q"),
        ("wq", "bq"),
        ("w1", "b1"),
        ("linears.3.weight", "linears.3.bias"),
        ("a", "a_bias"),
    ],
)
def test_a_matrix_and_its_bias_have_the_same_stem(matrix, bias):
    assert stem(matrix) == stem(bias)


def test_matrices_of_different_roles_have_different_stems():
    assert len({stem(name) for name in ("w_q", "w_k", "w_v", "linears.0.weight")}) == 4
