import contextlib
import threading

import pytest

from harness.errors import CandidateTimedOut, SandboxBroken
from harness.grading.batch import Slots, grade_all
from harness.grading.grading import Assignment
from harness.intake.deliveries import collect
from harness.parsing.client import Parser
from harness.results import Verdict
from harness.sandbox.base import Limits
from harness.sandbox.process import ProcessSandbox
from tests import toy
from tests.grading.test_grading import Delivered
from tests.toy import FakeSandbox


@pytest.fixture(scope="module")
def assignment():
    with Parser() as parser:
        yield Assignment(spec=toy.SPEC, seed="seed", limits=Limits(), parser=parser)


class Opener:
    """Opens sandboxes and remembers them; ``scripts`` are given to them in turn."""

    def __init__(self, *scripts):
        self.scripts = list(scripts)
        self.opened = []
        self._lock = threading.Lock()

    def __call__(self):
        with self._lock:
            script = self.scripts.pop(0) if self.scripts else ()
            sandbox = FakeSandbox(script)
            self.opened.append(sandbox)
            return sandbox

    @property
    def left(self):
        return [sandbox for sandbox in self.opened if not sandbox.closed]


def deliveries(count):
    return [Delivered(toy.submission(name=f"s{n}"), id=f"s{n}") for n in range(count)]


def run(assignment, opener, count=4, *, reuse=False, jobs=2, most=100):
    slots = Slots(opener, reuse=reuse, most=most)
    return list(grade_all(deliveries(count), assignment, slots, jobs=jobs))


@pytest.mark.parametrize("reuse", [True, False])
@pytest.mark.parametrize("jobs", [1, 2, 8])
def test_every_submission_is_graded_once_and_no_sandbox_is_left(assignment, reuse, jobs):
    opener = Opener()
    cards = run(assignment, opener, 5, reuse=reuse, jobs=jobs)
    assert sorted(card.result.id for card in cards) == ["s0", "s1", "s2", "s3", "s4"]
    assert {card.result.verdict for card in cards} == {Verdict.PASSED}
    assert opener.left == []


def test_nothing_to_grade_opens_nothing(assignment):
    opener = Opener()
    assert run(assignment, opener, 0) == []
    assert opener.opened == []


def test_each_submission_has_a_sandbox_of_its_own_by_default(assignment):
    opener = Opener()
    run(assignment, opener, 4)
    assert [sandbox.starts for sandbox in opener.opened] == [1, 1, 1, 1]


def test_a_reused_sandbox_serves_one_submission_after_another(assignment):
    opener = Opener()
    run(assignment, opener, 6, reuse=True, jobs=1)
    assert [sandbox.starts for sandbox in opener.opened] == [6]


def test_no_more_sandboxes_are_open_than_there_are_jobs(assignment):
    opener = Opener()
    run(assignment, opener, 12, reuse=True, jobs=3)
    assert len(opener.opened) <= 3


def test_a_reused_sandbox_is_closed_after_its_last_submission(assignment):
    opener = Opener()
    run(assignment, opener, 5, reuse=True, jobs=1, most=2)
    assert [sandbox.starts for sandbox in opener.opened] == [2, 2, 1]
    assert opener.left == []


def test_a_worn_sandbox_serves_no_other_submission(assignment):
    opener = Opener()
    slots = Slots(opener, reuse=True)
    for card in grade_all(deliveries(3), assignment, slots, jobs=1):
        if card.result.id == "s0":
            opener.opened[0].is_worn = True
    assert opener.opened[0].starts < 3
    assert len(opener.opened) == 2


def test_a_sandbox_that_wore_out_while_grading_is_closed(assignment):
    opener = Opener()

    def wearing():
        sandbox = opener()
        sandbox.is_worn = True
        return sandbox

    cards = list(grade_all(deliveries(3), assignment, Slots(wearing, reuse=True), jobs=1))
    assert len(cards) == len(opener.opened) == 3
    assert opener.left == []


BROKEN = SandboxBroken("the engine is gone")


def test_a_sandbox_that_broke_before_the_submission_ran_is_tried_once_more(assignment):
    opener = Opener([BROKEN])
    (card,) = run(assignment, opener, 1, reuse=True)
    assert card.result.verdict is Verdict.PASSED
    assert [sandbox.starts for sandbox in opener.opened] == [1, 1]
    assert opener.left == []


def test_it_is_not_tried_a_third_time(assignment):
    opener = Opener([BROKEN], [BROKEN])
    (card,) = run(assignment, opener, 1)
    assert (card.result.verdict, card.result.reason) == (Verdict.INVALID, "the engine is gone")
    assert len(opener.opened) == 2
    assert opener.left == []


def test_a_submission_that_ran_is_not_tried_again_when_the_sandbox_breaks(assignment):
    opener = Opener([None, None, BROKEN])
    (card,) = run(assignment, opener, 1, reuse=True)
    assert card.result.verdict is Verdict.INVALID
    assert len(opener.opened) == 1
    assert opener.left == []


def test_a_submission_that_timed_out_is_not_tried_again(assignment):
    opener = Opener([None, CandidateTimedOut("late")])
    (card,) = run(assignment, opener, 1)
    assert card.result.verdict is Verdict.FAILED
    assert len(opener.opened) == 1


def test_a_broken_sandbox_costs_one_submission_and_the_batch_goes_on(assignment):
    opener = Opener([None, None, BROKEN])
    cards = run(assignment, opener, 4, jobs=1)
    assert [card.result.verdict for card in cards] == [Verdict.INVALID] + [Verdict.PASSED] * 3


def test_a_sandbox_that_cannot_be_opened_ends_the_batch(assignment):
    def never():
        raise SandboxBroken("no engine answers")

    with pytest.raises(SandboxBroken, match="no engine answers"):
        list(grade_all(deliveries(3), assignment, Slots(never, reuse=False), jobs=2))


@pytest.mark.parametrize("reuse", [True, False])
def test_when_the_caller_stops_no_further_submission_is_begun_and_no_sandbox_is_left(
    assignment, reuse
):
    opener = Opener()
    cards = grade_all(deliveries(50), assignment, Slots(opener, reuse=reuse), jobs=2)
    next(cards)
    with contextlib.closing(cards):
        pass
    assert sum(sandbox.starts for sandbox in opener.opened) < 10
    assert opener.left == []
    assert not [t for t in threading.enumerate() if t.name.startswith("grading")]


def test_an_interrupt_leaves_no_sandbox(assignment):
    opener = Opener()

    def grading():
        for _ in grade_all(deliveries(50), assignment, Slots(opener, reuse=True), jobs=2):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        grading()
    assert opener.left == []


def test_real_processes_are_reused_and_gone(assignment, tmp_path):
    for name in ("a", "b", "c", "d"):
        (tmp_path / f"{name}.py").write_text(toy.RIGHT if name < "c" else toy.WRONG)
    opened = []

    def opener():
        opened.append(ProcessSandbox())
        return opened[-1]

    found = collect([tmp_path]).deliveries
    cards = list(grade_all(found, assignment, Slots(opener, reuse=True), jobs=2))
    assert sorted((card.result.id, card.result.verdict) for card in cards) == [
        ("a", "passed"),
        ("b", "passed"),
        ("c", "failed"),
        ("d", "failed"),
    ]
    assert len(opened) <= 2
    assert all(sandbox._child is None for sandbox in opened)


def test_when_the_caller_stops_a_running_submission_ends_with_its_present_exchange(assignment):
    running, go_on = threading.Event(), threading.Event()

    def waiting(header):
        running.set()
        go_on.wait(60)
        return {"answers": [{"raised": {"type": "E"}}] * 2}

    opener = Opener([], [None, waiting])
    cards = grade_all(deliveries(2), assignment, Slots(opener, reuse=False), jobs=2)
    next(cards)
    assert running.wait(60)
    closing = threading.Thread(target=cards.close)
    closing.start()
    go_on.set()
    closing.join(60)
    assert [len(sandbox.frames) for sandbox in opener.opened] == [5, 2]
    assert opener.left == []
