from __future__ import annotations

import msgspec
import pytest

from harness.candidate_view import for_candidate
from harness.results import Card
from reports import render_candidate, render_card, write_candidate
from reports.candidate import candidate_page
from tests.reports import samples
from tests.reports.payloads import PAYLOADS
from tests.reports.test_injection import ELEMENTS, Page


def page(card: Card) -> str:
    return render_candidate(for_candidate(card))


def test_a_wrong_answer_shows_titles_outcomes_hints_and_inputs() -> None:
    html = page(samples.over_queries())
    for words in (
        "grace-hopper", "Failed", "wrong answer", "Each query’s weights sum to 1 over the keys",
        "Normalise over the last axis", "To try yourself", "attention(Q, K, V)", "Q = np.array([[[",
    ):  # fmt: skip
        assert words in html, words


def test_neither_bug_nor_question_nor_numbers_of_ours_are_shown() -> None:
    html = page(samples.over_queries())
    for words in (
        "Softmax over the queries", "Each column", "It would hand out",
        "got 0.", "row sums lie between", "actual", "sha256",
    ):  # fmt: skip
        assert words not in html.split("</style>")[-1], words


def test_why_a_passed_check_earns_nothing_is_said_before_the_checks() -> None:
    said = "earns its points only when the central check passes"
    pages = (page(samples.over_queries()), render_card(samples.over_queries()))
    for html, mark in zip(pages, ('id="level-pass"', 'class="passed-list"'), strict=True):
        assert html.index('id="checks"') < html.index(said) < html.index(mark)
    assert said not in page(samples.right())


def test_an_exception_links_to_its_line() -> None:
    html = page(samples.crashed())
    assert '<a class="line" href="#L15">line 15</a>' in html
    assert 'id="L15"' in html


def test_a_submission_that_was_not_graded_says_why() -> None:
    assert samples.ungradeable().result.reason in page(samples.ungradeable())
    assert "engine went away" not in page(samples.invalid())


@pytest.mark.parametrize("payload", PAYLOADS)
def test_hostile_text_is_only_ever_text(payload: str) -> None:
    html = page(samples.hostile(payload))
    assert {tag for tag, _ in Page(html).tags} <= ELEMENTS
    assert len(html.encode()) <= 300_000


def test_a_card_without_a_page_of_its_own_is_not_written(tmp_path) -> None:  # type: ignore[no-untyped-def]
    card = samples.right()
    nameless = msgspec.structs.replace(
        card, result=msgspec.structs.replace(card.result, card="../../etc/passwd")
    )
    write_candidate(nameless, tmp_path)
    assert list(tmp_path.rglob("*")) == []


def test_checks_are_listed_by_level_lowest_first() -> None:
    rungs = candidate_page(for_candidate(samples.nan_row())).rungs
    assert [rung.level.value for rung in rungs] == ["pass", "good"]
    assert [rung.reached for rung in rungs] == [True, False]
