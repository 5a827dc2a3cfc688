"""What follows from marks: score, level and verdict of a form."""

import msgspec
import pytest

from harness.errors import UsageError
from harness.marking import Marking, fold
from harness.results import KeyPoint, Level, Outcome, Verdict
from tests.marking.samples import POINTS, card, check, marked


def test_a_form_awaits_review_until_it_is_marked_as_read():
    waiting = fold(card(), marked("1.1", "1.2", "1.3", reviewed=False)).result
    assert waiting.verdict is Verdict.AWAITING_REVIEW
    assert waiting.level is Level.NONE
    assert "answered 1 of 1" in waiting.reason
    assert fold(card()).result.verdict is Verdict.AWAITING_REVIEW


def test_a_form_that_was_read_and_has_no_point_failed():
    result = fold(card(), marked()).result
    assert result.verdict is Verdict.FAILED
    assert [level.marked for level in result.review] == [0, 0, 0]


def test_what_can_be_earned_is_the_same_before_and_after():
    each = (Marking(), marked("1.1", reviewed=False), marked(), marked("1.1", "1.2"))
    assert {fold(card(), marking).result.possible for marking in each} == {6 + 4}


def test_a_whole_mark_is_a_point_and_half_a_mark_is_half():
    result = fold(card(), Marking(values={"1.1": 1, "1.2": 0.5, "1.3": 0}, reviewed=True)).result
    assert (result.earned, result.possible) == (6 + 1.5, 6 + 4)
    assert [(level.level, level.marked, level.total) for level in result.review] == [
        (Level.PASS, 1.5, 2),
        (Level.GOOD, 0, 1),
        (Level.EXCELLENT, 0, 1),
    ]
    assert result.level is Level.PASS


def test_what_a_machine_could_not_read_counts_as_its_check():
    unread = msgspec.structs.replace(check(Level.PASS, Outcome.NOT_APPLICABLE), points=3)
    point = KeyPoint(id="1.0", text="right", level=Level.PASS, points=3)
    form = card(checks=(unread, check(Level.GOOD)))
    question = msgspec.structs.replace(form.questions[0], points=(point, *POINTS))
    form = msgspec.structs.replace(form, questions=(question,))
    missed, half, counted = (fold(form, marked("1.0", value=value)).result for value in (0, 0.5, 1))
    assert (missed.earned, half.earned, counted.earned) == (3, 4.5, 6)
    assert missed.possible == counted.possible == 6 + 4


@pytest.mark.parametrize(
    ("marking", "said"),
    [
        (marked("9.9"), r"ann has no key point 9\.9"),
        (Marking(notes={"9": "well"}), "ann has no question 9"),
    ],
)
def test_what_the_assignment_does_not_have_is_named(marking, said):
    with pytest.raises(UsageError, match=said):
        fold(card(), marking)


def test_marks_notes_and_reviewers_are_on_the_card():
    marking = Marking(values={"1.2": 0.5}, notes={"1": "vague"}, reviewers=("bo",))
    folded = fold(card(), marking)
    assert [point.mark for point in folded.questions[0].points] == [None, 0.5, None, None]
    assert folded.questions[0].note == "vague"
    assert folded.result.reviewers == ("bo",)


@pytest.mark.parametrize(
    ("points", "level"),
    [
        (("1.1", "1.3", "1.4"), Level.NONE),
        (("1.1", "1.2"), Level.PASS),
        (("1.1", "1.2", "1.3"), Level.GOOD),
        (("1.1", "1.2", "1.4"), Level.PASS),
        (("1.1", "1.2", "1.3", "1.4"), Level.EXCELLENT),
    ],
)
def test_a_level_takes_three_fifths_of_its_points_and_all_below(points, level):
    result = fold(card(), marked(*points)).result
    assert result.level is level
    assert result.verdict is (Verdict.FAILED if level is Level.NONE else Verdict.PASSED)


def test_marks_do_not_make_up_for_a_check_that_failed():
    failed = (check(Level.PASS, Outcome.FAILED), check(Level.GOOD))
    result = fold(card(checks=failed), marked("1.1", "1.2", "1.3")).result
    assert result.level is Level.NONE
    assert result.verdict is Verdict.FAILED


def test_folding_twice_changes_nothing():
    once = fold(card(), marked("1.1"))
    assert fold(once, marked("1.1")) == once


def test_taking_the_last_mark_back_undoes_the_review():
    assert fold(fold(card(), marked("1.1"))) == fold(card())


def test_what_is_not_scored_stays_so():
    refused = card(earned=None)
    assert fold(refused, marked("1.1")) == refused


def test_a_card_of_code_is_returned_as_it_is():
    code = msgspec.structs.replace(card(), questions=())
    assert fold(code) is code
