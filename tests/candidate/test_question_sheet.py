import itertools

import numpy as np
import pytest

import specs
from harness import Expected, Facet, Judge, Level, criterion
from harness.candidate import DirectSession, QuestionSheet, run_checks
from harness.candidate.question_sheet import same_steps
from harness.errors import NotOffered
from harness.protocol import Call, Tensor
from tests import toy


@criterion(facet=Facet.NUMERIC, hint="Multiply by two.")
def step_by_step(double, draw, judge: Judge):
    """Each output is twice its input, one call at a time."""
    for _ in range(4):
        x = draw.normal(3)
        judge.close(double(x)["doubled"], Expected(2 * x, 4 * np.abs(x)), "doubled")


@criterion(facet=Facet.NUMERIC, hint="Multiply by two.")
def twice_over(double, draw, judge: Judge):
    """Twice the output is four times the input."""
    x = draw.normal(3)
    first = judge.finite(double(x)["doubled"], "doubled").values
    judge.close(double(first)["doubled"], Expected(4 * x, 8 * np.abs(x)), "doubled")


SPEC = toy.dataclasses.replace(
    toy.SPEC,
    checks=(step_by_step.at(Level.PASS, points=1), twice_over.at(Level.PASS, points=1)),
)


class Counting(DirectSession):
    """Keeps what it was asked."""

    def __init__(self, **functions):
        super().__init__(toy.right() | functions, arrays="numpy")
        self.frames = []

    def exchange(self, steps):
        self.frames.append(list(steps))
        return super().exchange(steps)


def run(session, sheet=None):
    return run_checks(SPEC, session, "seed", sheet=sheet)


def test_calls_that_depend_on_no_answer_go_in_one_frame():
    session = Counting()
    run(session, QuestionSheet("seed"))
    assert [len(frame) for frame in session.frames] == [4, 1, 1]


def test_what_is_made_of_an_answer_is_asked_when_the_answer_is_there():
    session = Counting(double=lambda x: x * 3)
    run(session, QuestionSheet("seed"))
    *_, first, second = session.frames
    np.testing.assert_array_equal(second[0].arguments[0], first[0].arguments[0] * 3)


def test_a_wrong_answer_is_asked_in_the_same_frames_as_a_right_one():
    sheet = QuestionSheet("seed")
    right, wrong = Counting(), Counting(double=lambda x: x * 3)
    run(right, sheet)
    run(wrong, sheet)
    assert same_steps(right.frames[0], wrong.frames[0])


def test_outcomes_and_recording_are_those_without_a_sheet():
    sheet = QuestionSheet("seed")
    for factor in (2, 3):
        functions = {"double": lambda x, factor=factor: x * factor}
        plain, recorded = run(Counting(**functions))
        foreseen, recorded_too = run(Counting(**functions), sheet)
        decided, decided_too = (
            [(one.outcome, one.message, one.mismatch) for one in results]
            for results in (plain, foreseen)
        )
        assert decided == decided_too
        assert len(recorded) == len(recorded_too)
        for one, other in zip(recorded, recorded_too, strict=True):
            np.testing.assert_array_equal(one.arguments[0], other.arguments[0])


def test_an_exception_is_met_where_it_was_raised():
    calls = itertools.count()

    def double(x):
        if next(calls) == 2:
            raise ValueError("the third")
        return x * 2

    results, recorded = run(Counting(double=double), QuestionSheet("seed"))
    assert results[0].message == "ValueError: the third"
    assert sum(call.check == "step-by-step" for call in recorded) == 3


def test_where_one_call_cannot_be_made_the_others_are_made_one_by_one():
    class Refusing(Counting):
        def exchange(self, steps):
            if len(steps) > 1:
                raise NotOffered("mask")
            return super().exchange(steps)

    session = Refusing()
    results, _ = run(session, QuestionSheet("seed"))
    assert [one.outcome for one in results] == ["passed", "passed"]
    assert [len(frame) for frame in session.frames] == [1] * 6


@pytest.mark.parametrize(
    "other",
    [
        Call(name="f", arguments=(np.array([1.0, 2.0]),)),
        Call(name="f", arguments=(np.array([1.0, -0.0], np.float32),)),
        Call(name="f", arguments=(np.array([1.0, 0.0]),)),
        Call(name="f", arguments=(Tensor.of(np.array([1.0, -0.0])),)),
        Call(name="g", arguments=(np.array([1.0, -0.0]),)),
        Call(name="f", arguments=(np.array([1.0, -0.0]), None)),
        Call(name="f", arguments=(np.array([1.0, -0.0]),), echo=True),
    ],
)
def test_steps_are_the_same_byte_for_byte_or_not_at_all(other):
    step = Call(name="f", arguments=(np.array([1.0, -0.0]),))
    again = Call(name="f", arguments=(np.array([1.0, -0.0]),))
    assert same_steps([step], [again])
    assert not same_steps([step], [other])


def test_one_array_twice_is_not_two_equal_ones():
    x = np.ones(2)
    assert not same_steps(
        [Call(name="f", arguments=(x, x))], [Call(name="f", arguments=(x, x.copy()))]
    )


@pytest.mark.parametrize("name", ["numpy_attention", "torch_sdpa"])
def test_no_check_of_a_function_takes_more_than_three_exchanges(name):
    spec = specs.load(name)
    sheet = QuestionSheet("seed")
    functions = spec.assemble(spec.reference)

    class Session(DirectSession):
        count = 0

        def exchange(self, steps):
            self.count += 1
            return super().exchange(steps)

    session = Session(functions, arrays=spec.arrays)
    results, _ = run_checks(spec, session, "seed", sheet=sheet)
    assert {one.outcome for one in results} == {"passed"}
    assert session.count <= min(40, len(spec.checks) + 10)
