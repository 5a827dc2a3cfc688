from __future__ import annotations

import msgspec

from harness.results import BatchResults
from reports import render_index
from reports.index import INDEX, index_page
from tests.reports import samples


def many(count: int, text: str) -> BatchResults:
    one = samples.over_queries().result
    crowd = tuple(msgspec.structs.replace(one, id=f"{text}{number}") for number in range(count))
    return msgspec.structs.replace(samples.batch(), submissions=crowd)


def test_the_best_submission_comes_first_and_what_was_not_graded_apart() -> None:
    page = index_page(samples.batch())
    assert [row.result.id for row in page.graded][:2] == ["ada-lovelace", "katherine-johnson"]
    assert [row.result.id for row in page.refused] == ["empty-handed", "unlucky"]


def test_a_row_names_the_bug_and_links_to_the_card() -> None:
    page = render_index(samples.batch((samples.over_queries(),)))
    assert f'<a href="{samples.over_queries().result.card}">grace-hopper</a>' in page
    assert "Softmax over the queries" in page
    assert "22 / 41" in page


def test_a_submission_without_a_card_is_no_link() -> None:
    result = msgspec.structs.replace(samples.right().result, card="")
    page = render_index(msgspec.structs.replace(samples.batch(), submissions=(result,)))
    assert "ada-lovelace" in page
    assert '<a href="cards' not in page


def test_every_verdict_is_counted() -> None:
    counts = {word.text: count for word, count in index_page(samples.batch()).counts}
    assert counts == {"Passed": 2, "Failed": 4, "Ungradeable": 1, "Invalid": 1}


def test_reasons_and_ignored_entries_are_shown() -> None:
    page = render_index(samples.batch())
    assert samples.ungradeable().result.reason in page
    assert samples.invalid().result.reason in page
    assert "README.md: not a submission" in page


def test_an_empty_batch_has_a_page_too() -> None:
    assert "Nothing was graded." in render_index(samples.batch(()))


def test_a_batch_of_any_size_stays_below_two_mebibytes() -> None:
    page = render_index(many(6000, "submission-"))
    assert len(page.encode()) <= INDEX
    assert "more submissions: see results.csv" in page


def test_hostile_names_cannot_blow_up_the_page() -> None:
    assert len(render_index(many(3000, '"' * 9000)).encode()) <= INDEX
