"""review.toml: what an interviewer ticks, and what follows from it."""

import msgspec
import pytest

from harness.commands import review
from harness.errors import UsageError
from harness.results import (
    Card,
    CheckResult,
    Environment,
    Facet,
    KeyPoint,
    Level,
    Outcome,
    Question,
    SubmissionResult,
    Verdict,
)

POINTS = tuple(
    KeyPoint(id=f"1.{place}", text='a # "point"', level=level)
    for place, level in enumerate((Level.PASS, Level.PASS, Level.GOOD, Level.EXCELLENT), start=1)
)


def check(level, outcome=Outcome.PASSED):
    return CheckResult(
        id=level,
        title="t",
        outcome=outcome,
        level=level,
        facet=Facet.SHAPE,
        points=3,
        earned=3 if outcome is Outcome.PASSED else 0,
    )


PASSED = (check(Level.PASS), check(Level.GOOD))


def card(identifier="ann", checks=PASSED, earned=6):
    result = SubmissionResult(
        id=identifier,
        sha256="",
        verdict=Verdict.PASSED,
        level=Level.GOOD,
        earned=earned,
        possible=6,
        checks=checks,
    )
    answers = {"answer": "because"}
    questions = (Question(id="1", part="p", text="Why\nso?", answers=answers, points=POINTS),)
    environment = Environment(takehome="0", sandbox="none", isolated=True)
    return Card(spec="s", title="t", environment=environment, result=result, questions=questions)


def ticked(*points, reviewed=True):
    return {"ann": review.Marks(frozenset(points), reviewed)}


def test_the_file_that_is_prepared_ticks_nothing(tmp_path):
    assert review.prepare([card()], tmp_path) == tmp_path / "review.toml"
    assert review.read(tmp_path) == ticked(reviewed=False)


def test_a_blank_answer_has_nothing_to_tick(tmp_path):
    blank = msgspec.structs.replace(card().questions[0], answers={"answer": " "})
    path = review.prepare([msgspec.structs.replace(card(), questions=(blank,))], tmp_path)
    assert "not answered" in path.read_text()
    assert "1.1" not in path.read_text()
    assert review.read(tmp_path) == ticked(reviewed=False)


def test_a_form_awaits_review_until_it_is_marked_as_read():
    waiting = review.fold(card(), ticked("1.1", "1.2", "1.3", reviewed=False)).result
    assert waiting.verdict is Verdict.AWAITING_REVIEW
    assert waiting.level is Level.NONE
    assert "answered 1 of 1" in waiting.reason
    assert review.fold(card(), {}).result.verdict is Verdict.AWAITING_REVIEW


def test_a_form_that_was_read_and_has_no_point_failed():
    result = review.fold(card(), ticked()).result
    assert result.verdict is Verdict.FAILED
    assert [one.ticked for one in result.review] == [0, 0, 0]


def test_what_can_be_earned_is_the_same_before_and_after():
    marks = ({}, ticked("1.1", reviewed=False), ticked(), ticked("1.1", "1.2"))
    assert {review.fold(card(), each).result.possible for each in marks} == {6 + 4}


def test_what_a_machine_could_not_read_counts_as_its_check():
    unread = msgspec.structs.replace(check(Level.PASS, Outcome.NOT_APPLICABLE), points=3)
    point = KeyPoint(id="1.0", text="right", level=Level.PASS, points=3)
    form = card(checks=(unread, check(Level.GOOD)))
    question = msgspec.structs.replace(form.questions[0], points=(point, *POINTS))
    form = msgspec.structs.replace(form, questions=(question,))
    missed, counted = (review.fold(form, ticked(*each)).result for each in ((), ("1.0",)))
    assert (missed.earned, counted.earned) == (3, 6)
    assert missed.possible == counted.possible == 6 + 4


def test_a_point_is_ticked_by_writing_true(tmp_path):
    path = review.prepare([card()], tmp_path)
    path.write_text(path.read_text().replace('"1.2" = false', '"1.2" = true'))
    assert review.read(tmp_path) == ticked("1.2", reviewed=False)


def test_preparing_again_keeps_ticks_and_adds_who_is_missing(tmp_path):
    path = review.prepare([card()], tmp_path)
    path.write_text(path.read_text().replace('"1.2" = false', '"1.2" = true'))
    review.prepare([card(), card('jörg "x" \\ y')], tmp_path)
    assert review.read(tmp_path) == ticked("1.2", reviewed=False) | {
        'jörg "x" \\ y': review.Marks()
    }


def test_code_has_nothing_to_tick(tmp_path):
    assert review.prepare([msgspec.structs.replace(card(), questions=())], tmp_path) is None
    assert not (tmp_path / "review.toml").exists()


def test_without_a_file_nothing_is_ticked(tmp_path):
    assert review.read(tmp_path) == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[ann\n", "cannot be read"),
        ("ann = 3", "expected a table"),
        ("[ann]\n'1.1' = 'yes'", "expected true or false"),
        ("[ann]\n'1.1' = true\n'1.1' = false", "cannot be read"),
        ("\udcff", "cannot be read"),
    ],
)
def test_a_broken_file_is_named_and_what_is_wrong(tmp_path, text, said):
    (tmp_path / "review.toml").write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(UsageError, match=said) as caught:
        review.read(tmp_path)
    assert "review.toml" in str(caught.value)


def test_a_point_that_does_not_exist_is_named():
    with pytest.raises(UsageError, match=r"ann has no key point 9\.9"):
        review.fold(card(), ticked("9.9"))


def test_each_tick_is_a_point():
    result = review.fold(card(), ticked("1.1", "1.3")).result
    assert (result.earned, result.possible) == (6 + 2, 6 + 4)
    assert [(one.level, one.ticked, one.total) for one in result.review] == [
        (Level.PASS, 1, 2),
        (Level.GOOD, 1, 1),
        (Level.EXCELLENT, 0, 1),
    ]


def test_ticks_are_on_the_card():
    folded = review.fold(card(), ticked("1.2"))
    assert [point.ticked for point in folded.questions[0].points] == [False, True, False, False]


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
    result = review.fold(card(), ticked(*points)).result
    assert result.level is level
    assert result.verdict is (Verdict.FAILED if level is Level.NONE else Verdict.PASSED)


def test_ticks_do_not_make_up_for_a_check_that_failed():
    failed = (check(Level.PASS, Outcome.FAILED), check(Level.GOOD))
    result = review.fold(card(checks=failed), ticked("1.1", "1.2", "1.3")).result
    assert result.level is Level.NONE
    assert result.verdict is Verdict.FAILED


def test_folding_twice_changes_nothing():
    once = review.fold(card(), ticked("1.1"))
    assert review.fold(once, ticked("1.1")) == once


def test_taking_the_last_tick_back_undoes_the_review():
    unread = review.fold(card(), {})
    assert review.fold(review.fold(card(), ticked("1.1")), {}) == unread


def test_what_is_not_scored_stays_so():
    refused = card(earned=None)
    assert review.fold(refused, ticked("1.1")) == refused


def test_a_card_of_code_is_returned_as_it_is():
    code = msgspec.structs.replace(card(), questions=())
    assert review.fold(code, {}) is code
