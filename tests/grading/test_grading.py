import dataclasses

import msgspec
import pytest

from harness.errors import (
    CandidateCrashed,
    CandidateTimedOut,
    ProtocolViolation,
    Refused,
    SandboxBroken,
)
from harness.grading.grading import Assignment, grade, grade_submission
from harness.intake.deliveries import collect
from harness.intake.submission import Submission
from harness.parsing.client import Parser
from harness.results import Card, CauseKind, FollowUp, Level, Outcome, Verdict, to_json
from harness.sandbox.base import Limits
from harness.sandbox.process import ProcessSandbox
from tests import toy
from tests.toy import Clock, FakeSandbox


@pytest.fixture(scope="module")
def parser():
    with Parser() as parser:
        yield parser


@pytest.fixture
def assignment(parser):
    return Assignment(spec=toy.SPEC, seed="seed", limits=Limits(), parser=parser, clock=Clock())


@dataclasses.dataclass(frozen=True)
class Delivered:
    """A delivery that is read without a disk."""

    outcome: Submission | Exception
    id: str = "answer"

    def load(self, parser):
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


def graded(assignment, sandbox=None, outcome=None):
    return grade(Delivered(outcome or toy.submission()), assignment, sandbox or FakeSandbox())


def test_a_right_answer_becomes_a_card_with_everything_on_it(assignment):
    card = graded(assignment)
    result = card.result
    assert (result.id, result.sha256) == ("answer", "0" * 64)
    assert (result.verdict, result.level) == (Verdict.PASSED, Level.EXCELLENT)
    assert (result.earned, result.possible) == (11, 11)
    assert result.exchanges == 5
    assert result.card.startswith("cards/answer-")
    assert [source.name for source in card.sources] == ["answer.py"]
    assert (card.log, card.environment.sandbox) == ("printed", "fake")
    assert card.evidence == ()
    assert msgspec.json.decode(to_json(card), type=Card) == card


def test_a_right_answer_is_asked_further_and_a_wrong_one_about_its_mistake(assignment):
    asked = FollowUp(question="And three times?", written="1")
    spec = dataclasses.replace(assignment.spec, next_questions=(asked,))
    further = dataclasses.replace(assignment, spec=spec)
    assert graded(further).result.next_questions == (asked,)
    wrong = FakeSandbox(functions=toy.right() | {"double": lambda x: x * 3})
    assert graded(further, wrong).result.next_questions == ()


def test_a_wrong_answer_carries_the_smallest_wrong_call_and_its_name(assignment):
    card = graded(assignment, FakeSandbox(functions=toy.right() | {"double": lambda x: x * 3}))
    assert card.result.verdict is Verdict.FAILED
    lost = sum(check.points for check in card.result.checks if check.outcome.is_missed)
    assert card.result.earned == toy.SPEC.possible - lost
    assert card.result.level is Level.NONE
    assert card.evidence[0].call == "double(x)"
    assert [found.flaw for found in card.result.diagnosis] == ["tripled"]


def test_an_answer_that_no_mistake_explains_earns_nothing_by_luck(assignment):
    card = graded(assignment, FakeSandbox(functions=toy.right() | {"double": lambda x: x * 0}))
    assert card.result.diagnosis == ()
    earned = {check.id for check in card.result.checks if check.earned}
    assert earned == {"total"}


@pytest.mark.parametrize(
    ("happening", "outcome"),
    [
        (CandidateTimedOut("late"), Outcome.TIMED_OUT),
        (CandidateCrashed("signal 11"), Outcome.CRASHED),
        (lambda header: {"raised": {"type": "SyntaxError", "line": 2}}, Outcome.RAISED),
    ],
)
def test_a_submission_that_does_not_load_says_so_once_and_earns_nothing(
    assignment, happening, outcome
):
    result = graded(assignment, FakeSandbox([happening])).result
    assert result.verdict is Verdict.FAILED
    first, *others = result.checks
    assert (first.outcome, result.cause.check) == (outcome, first.id)
    assert {check.outcome for check in others} == {Outcome.NOT_RUN}
    assert result.earned == 0


def test_syntax_of_a_newer_python_is_ungradeable_and_says_which(assignment):
    raised = {"type": "SyntaxError", "message": "invalid syntax, in Python 3.11", "line": 2}
    answer = toy.submission()
    file = dataclasses.replace(answer.files[0], data=b"x = 1\ntype Mask = int\n")
    result = graded(
        assignment,
        FakeSandbox([lambda header: {"raised": raised}]),
        dataclasses.replace(answer, files=(file,)),
    ).result
    assert result.verdict is Verdict.UNGRADEABLE
    assert result.reason == "line 2 needs Python 3.12, this sandbox has 3.11"


def test_a_crash_costs_one_check(assignment):
    result = graded(assignment, FakeSandbox([None, CandidateCrashed("signal 11")])).result
    crashed, *others = result.checks
    assert crashed.outcome is Outcome.CRASHED
    assert {check.outcome for check in others} == {Outcome.PASSED}
    assert result.verdict is Verdict.FAILED


def test_a_violation_leaves_the_rest_not_run(assignment):
    sandbox = FakeSandbox([None, None, ProtocolViolation("garbage")])
    result = graded(assignment, sandbox).result
    assert [check.outcome for check in result.checks] == [
        Outcome.PASSED,
        Outcome.PROTOCOL_VIOLATION,
        Outcome.NOT_RUN,
        Outcome.NOT_RUN,
    ]


def test_a_submission_without_any_entry_point_is_ungradeable_and_says_what_it_defines(assignment):
    sandbox = FakeSandbox(functions={"treble": abs, "solve\u202e": abs})
    card = graded(assignment, sandbox)
    result = card.result
    assert result.verdict is Verdict.UNGRADEABLE
    assert result.reason == ("the submission defines solve<U+202E>, treble, expected double, total")
    assert (result.earned, result.checks, result.possible) == (None, (), 11)
    assert card.sources


def test_an_empty_submission_defines_nothing(assignment):
    result = graded(assignment, FakeSandbox(functions={})).result
    assert result.reason == "the submission defines nothing, expected double, total"


def test_one_entry_point_is_enough_to_be_graded(assignment):
    functions = {"double": toy.right()["double"]}
    result = graded(assignment, FakeSandbox(functions=functions)).result
    assert result.verdict is Verdict.PASSED
    assert result.level is Level.GOOD
    assert "does not define total" in result.checks[3].message


def test_what_intake_refuses_is_ungradeable_with_its_one_line(assignment):
    sandbox = FakeSandbox()
    result = graded(assignment, sandbox, Refused("it is a link")).result
    assert (result.verdict, result.reason) == (Verdict.UNGRADEABLE, "it is a link")
    assert sandbox.frames == []


@pytest.mark.parametrize("exchange", [0, 1, 3])
def test_a_broken_sandbox_is_never_a_zero(assignment, exchange):
    sandbox = FakeSandbox([None] * exchange + [SandboxBroken("the engine is gone")])
    result = graded(assignment, sandbox).result
    assert (result.verdict, result.reason) == (Verdict.INVALID, "the engine is gone")
    assert (result.earned, result.checks) == (None, ())
    assert result.exchanges == exchange + 1


def test_a_check_that_breaks_is_never_a_zero(assignment):
    def broken(double):
        """It is broken."""
        raise ZeroDivisionError("ours")

    criterion = toy.criterion(facet=toy.Facet.NUMERIC, hint="")(broken)
    checks = (*toy.SPEC.checks, criterion.at(Level.GOOD, points=1))
    spec = dataclasses.replace(toy.SPEC, checks=checks)
    result = graded(dataclasses.replace(assignment, spec=spec)).result
    assert result.verdict is Verdict.INVALID
    assert result.reason == "broken: the check itself broke: ZeroDivisionError: ours"
    assert result.earned is None
    assert len(result.checks) == 5


def test_a_defect_of_ours_costs_one_card_and_says_where_it_is(assignment):
    def fixtures(draw):
        raise KeyError("ours")

    spec = dataclasses.replace(toy.SPEC, fixtures=fixtures)
    result = graded(dataclasses.replace(assignment, spec=spec)).result
    assert result.verdict is Verdict.INVALID
    assert result.reason.startswith("the harness broke: KeyError: 'ours' (test_grading.py, line ")


def test_a_parser_that_does_not_start_is_never_a_zero(assignment):
    result = graded(assignment, outcome=SandboxBroken("the parser does not start")).result
    assert (result.verdict, result.reason) == (Verdict.INVALID, "the parser does not start")


def test_the_time_of_a_submission_is_measured_by_the_clock_it_is_given(assignment):
    def late(header):
        assignment.clock.now += 2.5
        return {"answers": [{"raised": {"type": "E"}}, {"raised": {"type": "E"}}]}

    assert graded(assignment, FakeSandbox([None, late])).result.seconds == 2.5


def test_notes_of_intake_and_of_loading_are_on_the_card(assignment):
    names = [{"name": "double"}, {"name": "total"}]
    sandbox = FakeSandbox([lambda header: {"names": names, "inert": ["tqdm"]}])
    submission = dataclasses.replace(toy.submission(), notes=("2 cells were left out",))
    notes = graded(assignment, sandbox, submission).result.notes
    assert notes[0] == "2 cells were left out"
    assert "tqdm" in notes[1]


def test_real_files_are_graded_in_a_real_process(assignment, tmp_path):
    (tmp_path / "right.py").write_text(toy.RIGHT)
    (tmp_path / "wrong.py").write_text("print('hello')\n" + toy.WRONG)
    (tmp_path / "broken.py").write_text("def double(x:\n")
    (tmp_path / "other.py").write_text("def treble(x):\n    return 3 * x\n")
    sandbox = ProcessSandbox()
    try:
        cards = {
            delivery.id: grade(delivery, assignment, sandbox)
            for delivery in collect([tmp_path]).deliveries
        }
    finally:
        sandbox.close()
    assert {name: card.result.verdict for name, card in cards.items()} == {
        "right": Verdict.PASSED,
        "wrong": Verdict.FAILED,
        "broken": Verdict.FAILED,
        "other": Verdict.UNGRADEABLE,
    }
    assert cards["wrong"].log == "hello\n"
    assert cards["broken"].result.cause.kind is CauseKind.LOAD
    assert cards["broken"].result.checks[0].message.startswith("SyntaxError")


def test_a_submission_is_graded_the_same_twice_from_one_seed(assignment):
    one, two = (grade_submission(toy.submission(), assignment, FakeSandbox()) for _ in range(2))
    checks = [[(check.id, check.outcome, check.message) for check in card.result.checks]
              for card in (one, two)]  # fmt: skip
    assert checks[0] == checks[1]
