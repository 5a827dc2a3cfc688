import numpy as np
import pytest

from harness import Expected
from specs.reference import remembered
from specs.reference.remembered import Remembered


@pytest.fixture
def asked():
    return []


@pytest.fixture
def double(asked):
    def function(x, y=None):
        asked.append(x)
        return (Expected(2 * x),)

    return Remembered(function)


def test_the_same_question_is_answered_once(double, asked):
    (first,) = double(np.arange(3.0))
    (second,) = double(np.arange(3.0))
    assert first is second
    assert len(asked) == 1


@pytest.mark.parametrize(
    "another",
    [
        (np.array([0.0, 1.0, 3.0]),),
        (np.arange(3.0, dtype=np.float32),),
        (np.arange(3.0)[None],),
        (np.arange(3.0), None),
        (np.arange(3.0), np.arange(3.0)),
    ],
)
def test_another_question_gets_its_own_answer(double, asked, another):
    double(np.arange(3.0))
    double(*another)
    assert len(asked) == 2


def test_an_answer_that_is_shared_cannot_be_written_to(double):
    (answer,) = double(np.arange(3.0))
    with pytest.raises(ValueError, match="read-only"):
        answer.values[0] = 1.0


def test_what_is_kept_is_bounded_and_the_oldest_goes_first(double, asked, monkeypatch):
    monkeypatch.setattr(remembered, "BYTES", 3 * 24)
    for number in range(4):
        double(np.full(3, float(number)))
    double(np.full(3, 3.0))
    assert len(asked) == 4
    double(np.full(3, 0.0))
    assert len(asked) == 5


def test_a_large_answer_is_not_kept(double, asked):
    large = np.zeros(remembered.LARGEST // 8 + 1)
    double(large)
    double(large)
    assert len(asked) == 2
