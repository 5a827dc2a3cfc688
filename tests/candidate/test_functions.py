import dataclasses

import numpy as np
import pytest

from harness.candidate.functions import Candidate, Recording
from harness.candidate.session import DirectSession
from harness.errors import CandidateRaised, CheckFailed
from harness.protocol import Answer, Tensor
from harness.spec.spec import EntryPoint
from tests import toy

X = np.arange(4.0)


class Counting:
    """A session that counts the exchanges of another."""

    memory_noise = 0

    def __init__(self, session):
        self._session = session
        self.exchanges = []

    def exchange(self, steps):
        self.exchanges.append(len(steps))
        return self._session.exchange(steps)

    def measure(self, warm_up, step):
        return self._session.measure(warm_up, step)


def candidate(defined=None, **functions):
    session = Counting(toy.direct(**functions))
    return Candidate(toy.SPEC, session, defined), session


def double(**functions):
    one, _ = candidate(**functions)
    return one.entry_points("definition")["double"]


def test_an_entry_point_is_called_like_a_function_and_its_outputs_have_names():
    returned = double()(X)
    assert isinstance(returned["doubled"], Tensor)
    assert returned["doubled"].values.tolist() == [0, 2, 4, 6]
    assert list(returned) == ["doubled"]
    assert len(returned) == 1


def test_independent_calls_travel_in_one_exchange():
    one, session = candidate()
    outs = one.entry_points("definition")["double"].each((X + n,) for n in range(5))
    assert session.exchanges == [5]
    assert [returned["doubled"].values[0] for returned in outs] == [0, 2, 4, 6, 8]


def test_what_one_of_several_calls_raised_is_raised_in_its_turn():
    def picky(x):
        if x[0] > 0:
            raise ValueError(f"x is {x[0]:g}")
        return x

    answers = double(double=picky).each((X + n,) for n in range(3))
    assert next(answers)["doubled"].values[0] == 0
    with pytest.raises(CandidateRaised, match="ValueError: x is 1"):
        next(answers)


def test_an_exception_can_be_asked_for():
    def never(x):
        raise KeyError("k")

    assert double().error(X) is None
    assert double(double=never).error(X).kind == "KeyError"
    with pytest.raises(CandidateRaised):
        double(double=never).echoing(X)


def test_a_return_of_too_few_values_fails_and_is_counted():
    with pytest.raises(CheckFailed, match=r"double returned 0 values, expected \(doubled\)"):
        double(double=lambda x: None)(X)["doubled"]


def test_what_was_returned_beyond_the_names_is_not_looked_at():
    assert double(double=lambda x: (x, "more"))(X)["doubled"].values is not None


def test_arguments_come_back_as_they_are_after_the_call():
    def in_place(x):
        x *= 2
        return x

    (after,) = double(double=in_place).echoing(X).arguments_after
    assert after.values.tolist() == [0, 2, 4, 6]
    assert X.tolist() == [0, 1, 2, 3]
    assert double(double=in_place)(X).arguments_after == ()


def test_every_call_and_answer_is_recorded_with_its_check():
    one, _ = candidate()
    one.entry_points("definition")["double"].each([(X,), (X[:2],)])
    one.entry_points("total")["total"](X)
    one.entry_points("total")["total"].error("no array")
    assert [(record.check, record.point.name, record.size) for record in one.recording] == [
        ("definition", "double", 4),
        ("definition", "double", 2),
        ("total", "total", 4),
        ("total", "total", 0),
    ]
    assert all(isinstance(record.answer, Answer) for record in one.recording)
    assert one.recording[3].answer.raised.kind == "AttributeError"


def test_what_is_not_defined_fails_without_an_exchange():
    one, session = candidate(frozenset({"total"}))
    points = one.entry_points("definition")
    for ask in (points["double"], points["double"].echoing, points["double"].error):
        with pytest.raises(CheckFailed, match="does not define double; the brief asks for it"):
            ask(X)
    with pytest.raises(CheckFailed, match="does not define double"):
        points["double"].measured((X,), after=(X,))
    assert session.exchanges == []
    points["total"](X)
    assert session.exchanges == [1]


def test_the_memory_of_a_call_is_measured_and_the_call_not_recorded():
    one, _ = candidate(double=lambda x: np.repeat(x, 100)[: len(x)] * 2)
    point = one.entry_points("memory")["double"]
    returned, risen = point.measured((np.zeros(10_000),), after=(X,))
    assert returned["doubled"].values.shape == (10_000,)
    assert risen > 8_000_000
    assert one.recording == []


def test_gradients_are_asked_for_every_array_of_floats():
    torch = pytest.importorskip("torch")
    point = EntryPoint(role="f", name="f", parameters=("x", "n", "w"), returns=("out",))
    spec = dataclasses.replace(toy.SPEC, entry_points=(point,))
    session = DirectSession({"f": lambda x, n, w: (x * n * w,)}, arrays="torch")
    proxy = Candidate(spec, session).entry_points("gradients")["f"]
    of_x, of_w = proxy.gradients((X, np.arange(4), X + 1), (np.ones(4),))
    assert torch.tensor(of_x.values).tolist() == [0, 2, 6, 12]
    assert of_w.values.tolist() == [0, 1, 4, 9]


def test_what_a_call_returns_beyond_the_brief_is_dropped():
    one, _ = candidate(double=lambda x: (2 * x, np.zeros(1 << 20)))
    one.entry_points("definition")["double"](X)
    (recorded,) = one.recording
    assert [out.values.tolist() for out in recorded.answer.outs] == [(2 * X).tolist()]


def test_a_recording_ends_with_its_budget_and_the_calls_go_on():
    size = Recording.budget_bytes // 4
    one, _ = candidate(double=lambda x: np.zeros(size // 8))
    double = one.entry_points("definition")["double"]
    for _ in range(6):
        assert double(X)["doubled"].values.size == size // 8
    assert len(one.recording) == 4
