"""Numbers that the source documents print, and facts that everybody agrees on."""

import numpy as np
import pytest

import specs
from harness import answer_form
from specs.criteria import notation
from specs.numpy_attention import causal_mask
from specs.reference import encodings, online, stages
from specs.reference.heads import merge_heads, split_heads


@pytest.fixture(scope="module")
def document():
    """Q, K and V of the first document, drawn as it draws them."""
    random = np.random.default_rng(7)
    return tuple(random.normal(size=(1, 4, 8)) for _ in "QKV")


def functions(name):
    spec = specs.load(name)
    return spec.assemble(spec.reference)


def rounded(row):
    return np.round(row, 3).tolist()


def test_the_first_row_of_weights_without_a_mask(document):
    _, weights = functions("numpy_attention")["attention"](*document)
    assert rounded(weights[0, 0]) == [0.148, 0.33, 0.372, 0.15]


def test_the_first_two_rows_of_weights_under_the_causal_mask(document):
    _, weights = functions("numpy_attention")["attention"](*document, causal_mask(4))
    assert rounded(weights[0, 0]) == [1, 0, 0, 0]
    assert rounded(weights[0, 1]) == [0.443, 0.557, 0, 0]


def test_a_later_value_moves_later_rows_only(document):
    query, key, value = document
    attention = functions("numpy_attention")["attention"]
    moved = value.copy()
    moved[:, 2] += 100
    before, after = (attention(query, key, v, causal_mask(4))[0] for v in (value, moved))
    assert (before[:, :2] == after[:, :2]).all()
    assert (abs(before - after)[:, 2:] > 1).all()


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7])
def test_blocks_of_any_size_give_the_documents_numbers(document, size):
    full = stages.attention(stages.REFERENCE, *document, causal_mask(4)).out
    blocks = online.attention(online.REFERENCE, *document, size, causal_mask(4))
    assert np.allclose(blocks, full, rtol=0, atol=1e-14)


def test_the_row_of_position_6_of_the_concatenated_encoding():
    row = functions("numpy_attention")["positional_encoding"](64, 16)[6]
    assert rounded(row[:4]) == [-0.279, 0.947, 0.565, 0.189]


@pytest.mark.parametrize("layout", encodings.LAYOUTS.values(), ids=encodings.LAYOUTS)
def test_the_cosines_of_two_rows_of_the_encoding(layout):
    table = layout(64, 16)
    norms = np.linalg.norm(table, axis=1)
    cosines = table @ table[0] / norms / norms[0]
    assert rounded(cosines[[1, 8]]) == [0.936, 0.587]
    # Not what the document says of them: the similarity does not keep falling.
    assert np.round(cosines[[3, 6, 9, 12]], 2).tolist() == [0.69, 0.81, 0.46, 0.67]


def test_position_zero_is_not_the_zero_vector():
    row = encodings.interleaved(1, 16)[0]
    assert row.tolist() == [0, 1] * 8


def test_sixteen_features_in_four_heads_are_four_each(document):
    x = np.random.default_rng(7).normal(size=(2, 5, 16))
    heads = split_heads(x, 4)
    assert heads.shape == (2, 4, 5, 4)
    assert (merge_heads(heads) == x).all()


def test_both_pairings_of_the_rotation_give_the_same_products_of_ones():
    ones, positions = np.ones((9, 8)), np.arange(9)
    one, other = (f(ones, positions) for f in (encodings.rotary, encodings.rotary_halves))
    assert np.allclose(one @ one.T, other @ other.T)
    assert not np.allclose(one, other)


def test_slopes_for_eight_heads_are_a_half_to_a_256th():
    assert encodings.slopes(8).tolist() == [2.0**-n for n in range(1, 9)]


def written(field):
    """Return what the reference of the written answers has in a field."""
    return answer_form.from_bytes(functions("written_answers")["answer"](field))


def test_the_shapes_of_two_heads_that_the_third_document_works_out():
    heads = split_heads(np.zeros((2, 4, 8)), 2)
    joined = merge_heads(heads)
    assert notation.shape(written("15 transposed")) == tuple(map(str, heads.shape))
    assert notation.shape(written("15 concatenated")) == tuple(map(str, joined.shape))


@pytest.mark.parametrize(("field", "length"), [("17 causal", 4), ("24 causal", 5)])
def test_the_masks_that_the_third_document_draws(field, length):
    assert notation.grid(written(field), length) == tuple(causal_mask(length).ravel().tolist())


def test_the_softmax_of_two_one_zero():
    right = stages.softmax(np.array([2.0, 1.0, 0.0]))
    assert notation.proportions(written("18 weights")) == pytest.approx(tuple(right), abs=0.005)


def test_the_third_document_has_66_questions_and_each_has_fields_or_key_points():
    spec = specs.load("written_answers")
    assert [question.id for question in spec.questions] == [str(n) for n in range(1, 67)]
    by_machine = {check.id[1:3].lstrip("0") for check in spec.checks}
    assert by_machine == {"9", "13", "14", "15", "16", "17", "18", "22", "24", "37", "38", "40"}
    without_points = {question.id for question in spec.questions if not question.points}
    assert without_points == {"38"}


def test_every_field_for_the_machine_has_an_answer_in_the_reference_and_a_place_in_the_form():
    spec = specs.load("written_answers")
    by_machine = {check.id[1:3].lstrip("0") for check in spec.checks}
    assert {field.split()[0] for field in spec.reference} == by_machine
    prose = {
        f"{question.id} {name}" for question in spec.questions for name in question.answers
    } - set(spec.reference)
    assert len(prose) == 66 - 1  # question 38 asks for two numbers alone
    assert set(answer_form.read(spec.starter)) == prose | set(spec.reference)


def test_the_scores_three_and_zero_of_question_56():
    assert np.round(stages.softmax(np.array([3.0, 0.0])), 2).tolist() == [0.95, 0.05]
