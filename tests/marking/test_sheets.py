"""The order of marking: question by question, names hidden, shuffled."""

import msgspec
import pytest

from harness.errors import UsageError
from harness.marking import markings, sheets, unread
from harness.results import KeyPoint, Level
from tests.marking.samples import card, mark, question

NAMES = [f"candidate-{number}" for number in range(12)]
CARDS = [
    card(name, questions=(question("2", f"two by {n}"), question("10", f"ten by {n}")))
    for n, name in enumerate(NAMES)
]


def test_there_is_a_sheet_per_question_in_the_order_of_the_form():
    assert [sheet.question.id for sheet in sheets(CARDS, "seed")] == ["2", "10"]


def test_every_answer_is_on_its_sheet_once_and_under_no_name():
    for sheet in sheets(CARDS, "seed"):
        told = [sheet.submission(answer.key) for answer in sheet.answers]
        assert sorted(told) == sorted(NAMES)
        shown = msgspec.json.encode([(each.key, each.question) for each in sheet.answers])
        assert b"candidate" not in shown


def test_the_order_differs_between_questions_and_stays_when_the_page_is_loaded_again():
    two, ten = sheets(CARDS, "seed")
    orders = [[sheet.submission(answer.key) for answer in sheet.answers] for sheet in (two, ten)]
    assert orders[0] != orders[1]
    assert orders[0] != NAMES
    assert sheets(reversed(CARDS), "seed")[0].answers == two.answers


def test_a_key_follows_nobody_from_question_to_question_or_from_batch_to_batch():
    keys = [{answer.key for answer in sheet.answers} for sheet in sheets(CARDS, "seed")]
    keys += [{answer.key for answer in sheet.answers} for sheet in sheets(CARDS, "other")]
    assert len(set.union(*keys)) == 4 * len(NAMES)


def test_blank_answers_are_counted_and_not_shown():
    cards = [*CARDS, card("blank", questions=(question("2", " "), question("10", "ten")))]
    two, ten = sheets(cards, "seed")
    assert (len(two.answers), two.blank) == (12, 1)
    assert (len(ten.answers), ten.blank) == (13, 0)


def test_the_question_of_a_sheet_holds_no_answer_mark_or_point_of_one_form_alone():
    extra = KeyPoint(id="2.0", text="unread", level=Level.PASS)
    first = msgspec.structs.replace(
        question("2"), points=(extra, *question("2").points), note="vague"
    )
    (sheet,) = sheets([card("a", questions=(first,)), card("b", questions=(question("2"),))], "s")
    assert sheet.question.answers == {"answer": ""}
    assert sheet.question.note == ""
    assert [point.id for point in sheet.question.points] == ["2.1", "2.2", "2.3", "2.4"]
    assert any(each.question.points[0].id == "2.0" for each in sheet.answers)


def test_an_unknown_key_is_refused():
    with pytest.raises(UsageError, match="load the page again"):
        sheets(CARDS, "seed")[0].submission("ffff")


def test_what_is_left_to_mark_is_counted_by_submission():
    assert unread([card()], {}) == {"ann": 1}
    assert unread([card()], markings([mark("1.1")])) == {"ann": 1}
    everything = markings([mark(f"1.{place}", share=0.0) for place in range(1, 5)])
    assert unread([card()], everything) == {"ann": 0}
    assert unread([card(questions=(question(text=""),))], {}) == {"ann": 0}
