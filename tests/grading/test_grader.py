import pytest

from harness.errors import CandidateTimedOut, SandboxBroken
from harness.grading.grader import Grader
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

    def __call__(self):
        self.opened.append(FakeSandbox(self.scripts.pop(0) if self.scripts else ()))
        return self.opened[-1]

    @property
    def left(self):
        return [sandbox for sandbox in self.opened if not sandbox.closed]


def run(assignment, opener, count, **options):
    grader = Grader(assignment, opener, **options)
    submissions = [Delivered(toy.submission(name=f"s{n}"), id=f"s{n}") for n in range(count)]
    cards = [grader.grade(submission) for submission in submissions]
    grader.close()
    return cards


def test_each_submission_has_a_sandbox_of_its_own_unless_it_is_reused(assignment):
    opener = Opener()
    cards = run(assignment, opener, 3, reuse=False)
    assert [card.result.id for card in cards] == ["s0", "s1", "s2"]
    assert {card.result.verdict for card in cards} == {Verdict.PASSED}
    assert [sandbox.starts for sandbox in opener.opened] == [1, 1, 1]
    assert opener.left == []


def test_a_reused_sandbox_serves_one_submission_after_another(assignment):
    opener = Opener()
    run(assignment, opener, 6, reuse=True)
    assert [sandbox.starts for sandbox in opener.opened] == [6]
    assert opener.left == []


def test_a_reused_sandbox_is_closed_after_its_last_submission(assignment):
    opener = Opener()
    run(assignment, opener, 5, reuse=True, most=2)
    assert [sandbox.starts for sandbox in opener.opened] == [2, 2, 1]
    assert opener.left == []


def test_a_tainted_sandbox_serves_no_other_submission(assignment):
    opener = Opener()

    def tainted():
        sandbox = opener()
        sandbox.is_worn = True
        return sandbox

    run(assignment, tainted, 3, reuse=True)
    assert [sandbox.starts for sandbox in opener.opened] == [1, 1, 1]
    assert opener.left == []


def test_a_sandbox_that_broke_is_replaced_and_costs_one_submission(assignment):
    opener = Opener([None, None, SandboxBroken("the engine is gone")])
    cards = run(assignment, opener, 3, reuse=True)
    assert [card.result.verdict for card in cards] == ["invalid", "passed", "passed"]
    assert [sandbox.starts for sandbox in opener.opened] == [1, 2]
    assert opener.left == []


def test_a_timeout_is_the_submissions_own(assignment):
    (card,) = run(assignment, Opener([None, CandidateTimedOut("late")]), 1, reuse=True)
    assert card.result.verdict is Verdict.FAILED


def test_a_sandbox_that_cannot_be_opened_is_an_error(assignment):
    def never():
        raise SandboxBroken("no engine answers")

    with pytest.raises(SandboxBroken, match="no engine answers"):
        run(assignment, never, 1, reuse=False)


def test_an_interrupt_leaves_no_sandbox(assignment):
    opener = Opener([KeyboardInterrupt()])
    with pytest.raises(KeyboardInterrupt):
        run(assignment, opener, 1, reuse=True)
    assert opener.left == []


def test_real_processes_are_reused_and_gone(assignment, tmp_path):
    opened = []

    def opener():
        opened.append(ProcessSandbox())
        return opened[-1]

    for name, text in {"a": toy.RIGHT, "b": toy.RIGHT, "c": toy.WRONG}.items():
        (tmp_path / f"{name}.py").write_text(text)
    grader = Grader(assignment, opener, reuse=True)
    cards = [grader.grade(delivery) for delivery in collect([tmp_path]).deliveries]
    grader.close()
    assert [card.result.verdict for card in cards] == ["passed", "passed", "failed"]
    assert [sandbox._child for sandbox in opened] == [None]
