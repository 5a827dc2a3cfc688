"""Written answers on a card: what was asked, what was written, how it was marked."""

from __future__ import annotations

import msgspec
import pytest

from harness.results import Card, KeyPoint, Level, Question, RedFlag, Reviewed
from reports import render_card
from tests.reports import samples

QUESTIONS = (
    Question(
        id="1",
        part="Basics",
        text="Why?",
        answers={"answer": "because\nof <b>it</b>"},
        points=(
            KeyPoint(id="1.1", text="a reason", level=Level.PASS, mark=1),
            KeyPoint(id="1.2", text="a better one", level=Level.EXCELLENT),
        ),
    ),
    Question(id="2", part="Shapes", text="Which?", answers={"W_Q": "[d, k]", "W_K": ""}),
)


@pytest.fixture
def card() -> Card:
    return msgspec.structs.replace(samples.right(), questions=QUESTIONS)


def test_a_card_of_code_has_no_answers() -> None:
    assert 'id="questions"' not in render_card(samples.right())


def test_questions_stand_under_their_parts_in_order(card: Card) -> None:
    page = render_card(card)
    places = [page.index(text) for text in ("<h3>Basics</h3>", "Why?", "<h3>Shapes</h3>", "Which?")]
    assert places == sorted(places)


def test_an_answer_is_text_and_keeps_its_lines(card: Card) -> None:
    assert "because\nof &lt;b&gt;it&lt;/b&gt;" in render_card(card)


def test_what_is_marked_is_told_by_sign_and_word(card: Card) -> None:
    page = render_card(card)
    assert page.count("☑") == page.count("☐") == 1
    assert page.index("☑") < page.index("a reason") < page.index("☐") < page.index("a better one")
    assert page.count('<span class="sr">1 of 1: ') == 1


def test_a_field_that_was_left_blank_says_so(card: Card) -> None:
    assert render_card(card).count("No answer.") == 1


def test_answers_that_a_machine_reads_have_nothing_to_mark(card: Card) -> None:
    assert render_card(card).count("Checked by machine.") == 1


def test_red_flags_and_a_model_answer_stand_with_the_question_in_both_languages(card: Card) -> None:
    full = msgspec.structs.replace(
        QUESTIONS[0],
        text_zh="为什么？",
        red_flags=(RedFlag(text="no reason", text_zh="没有原因"),),
        model_answer="since",
        model_answer_zh="因为",
    )
    page = render_card(msgspec.structs.replace(card, questions=(full,)))
    for text in ("为什么？", "no reason", "没有原因", "since", "因为"):
        assert text in page


def test_before_a_review_the_card_says_how_to_mark(card: Card) -> None:
    assert "review.toml" in render_card(card)


def test_after_a_review_the_card_says_how_many_points_of_each_level(card: Card) -> None:
    review = (Reviewed(level=Level.PASS, marked=1, total=1),)
    result = msgspec.structs.replace(card.result, review=review)
    page = render_card(msgspec.structs.replace(card, result=result))
    assert "1 of 1." in page
    assert "review.toml" not in page


def test_a_form_filled_to_the_brim_still_makes_a_card(card: Card) -> None:
    full = msgspec.structs.replace(QUESTIONS[0], answers={"answer": "<" * 10_000})
    page = render_card(msgspec.structs.replace(card, questions=(full,) * 66))
    assert len(page.encode()) <= 300_000
