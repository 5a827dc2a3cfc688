"""Two flaws share an error as a linear regression on their effects says."""

import numpy as np
import pytest

from harness.diagnosis.explained_share import explained_variance_of_pairs

DRAW = np.random.default_rng(5)
RIGHT, ONE, OTHER, THIRD = DRAW.normal(size=(4, 6, 5))


def made(*effects):
    return [RIGHT + sum(effects)]


def test_two_effects_that_add_up_to_the_error_make_up_all_of_it_at_any_size():
    found = explained_variance_of_pairs(
        made(ONE, -3 * OTHER), [RIGHT], [made(ONE), made(OTHER), made(THIRD)]
    )
    assert found[0, 1] == pytest.approx(1.0)
    assert found == pytest.approx(found.T)
    assert max(found[0, 2], found[1, 2]) < 0.99


def test_a_share_is_the_coefficient_of_determination_of_a_regression_on_both():
    error = (ONE + OTHER * THIRD).ravel()
    found = explained_variance_of_pairs(
        made(error.reshape(6, 5)), [RIGHT], [made(ONE), made(THIRD)]
    )
    left = np.linalg.lstsq(np.stack([ONE.ravel(), THIRD.ravel()], 1), error, rcond=None)[1]
    assert found[0, 1] == pytest.approx(1 - left.item() / (error @ error))


def test_an_effect_adds_nothing_to_its_like():
    found = explained_variance_of_pairs(made(ONE, OTHER), [RIGHT], [made(ONE), made(2 * ONE)])
    assert found[0, 1] == pytest.approx(found[0, 0])


def test_what_is_no_number_has_no_part():
    holed = ONE.copy()
    holed[0, 0] = np.inf
    answer = made(ONE)
    answer[0][1, 1] = np.nan
    found = explained_variance_of_pairs(answer, [RIGHT], [made(holed), made(OTHER)])
    assert 0.9 < found[0, 0] < 1.0


@pytest.mark.parametrize("wrong", [[], [RIGHT[:3]], [RIGHT]], ids=["raised", "shape", "same"])
def test_a_flaw_without_an_effect_makes_up_nothing(wrong):
    found = explained_variance_of_pairs(made(ONE), [RIGHT], [wrong, made(ONE)])
    assert found == pytest.approx(np.array([[0.0, 1.0], [1.0, 1.0]]))


def test_values_too_large_to_square_do_no_harm():
    found = explained_variance_of_pairs(made(ONE), [RIGHT], [made(1e300 * OTHER), made(ONE)])
    assert found == pytest.approx(np.array([[0.0, 1.0], [1.0, 1.0]]))


def test_without_a_reference_values_are_compared_themselves():
    assert explained_variance_of_pairs([ONE], [], [[ONE], [RIGHT]])[0, 0] == pytest.approx(1.0)


def test_an_answer_without_numbers_has_no_error_to_share():
    assert not explained_variance_of_pairs([], [RIGHT], [made(ONE), made(OTHER)]).any()
