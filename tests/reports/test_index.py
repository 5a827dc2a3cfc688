from __future__ import annotations

import re

import msgspec
import pytest

from harness.results import BatchResults
from harness.reviews import Choice, Decision
from harness.similarity import LookAlike
from reports import Opinions, render_index
from reports.index import INDEX, ROWS, render_pages
from reports.words import happening
from tests.reports import samples


def many(count: int, text: str) -> BatchResults:
    one = samples.over_queries().result
    crowd = tuple(msgspec.structs.replace(one, id=f"{text}{number}") for number in range(count))
    return msgspec.structs.replace(samples.batch(), submissions=crowd)


def names(page: str) -> list[str]:
    return re.findall(r'class="id">(?:<a [^>]*>)?([^<]*)', page)


def test_the_best_submission_comes_first_and_what_was_not_graded_last() -> None:
    shown = names(render_index(samples.batch()))
    assert shown[:2] == ["ada-lovelace", "katherine-johnson"]
    assert shown[-2:] == ["empty-handed", "unlucky"]


def test_a_row_names_the_bug_and_links_to_the_card() -> None:
    page = render_index(samples.batch((samples.over_queries(),)))
    assert f'<a href="{samples.over_queries().result.card}">grace-hopper</a>' in page
    assert "Softmax over the queries" in page
    assert "22 / 41" in page
    assert 'aria-label="20 of 27 checks passed"' in page


def test_a_submission_without_a_card_is_no_link() -> None:
    result = msgspec.structs.replace(samples.right().result, card="")
    page = render_index(msgspec.structs.replace(samples.batch(), submissions=(result,)))
    assert "ada-lovelace" in page
    assert '<a href="cards' not in page


def test_every_verdict_is_counted() -> None:
    page = render_index(samples.batch())
    counts = re.findall(r"<strong>(\d+)</strong> ([a-z]+)</span>", page)
    assert counts == [("2", "passed"), ("4", "failed"), ("1", "ungradeable"), ("1", "invalid")]


def test_reasons_and_ignored_entries_are_shown() -> None:
    page = render_index(samples.batch())
    assert samples.ungradeable().result.reason in page
    assert samples.invalid().result.reason in page
    assert "README.md: not a submission" in page


@pytest.mark.parametrize("card", samples.cards(), ids=lambda card: card.result.id[:12])
def test_a_row_says_what_happened_and_never_a_requirement(card: object) -> None:
    assert isinstance(card, type(samples.right()))
    said = happening(card.result)
    assert said
    assert said not in {check.title for check in card.result.checks}


def test_an_empty_batch_has_a_page_too() -> None:
    assert "Nothing was graded." in render_index(samples.batch(()))


def test_a_decision_stands_beside_the_verdict_as_a_persons() -> None:
    last = Decision(submission="grace-hopper", reviewer="Alan", time="2026-12-01T10:00:00Z",
                    choice=Choice.ADVANCE)  # fmt: skip
    first = msgspec.structs.replace(last, choice=Choice.REJECT, reviewer="Kurt")
    opinions = Opinions(decisions={"grace-hopper": (first, last)})
    page = render_index(samples.batch(), opinions)
    row = next(line for line in page.splitlines() if "grace-hopper</a>" in line)
    assert "✕</span> Failed" in row
    assert "→ Advance</span>" in row
    assert "Alan" in row
    assert "Kurt" not in row


def test_a_large_batch_is_carried_as_data_and_stands_in_plain_pages() -> None:
    batch = many(2 * ROWS + 1, "submission-")
    written = render_pages(batch)
    assert list(written) == ["index.html", "index-2.html", "index-3.html"]
    shown = [name for page in written.values() for name in names(page)]
    assert sorted(shown) == sorted(one.id for one in batch.submissions)
    assert "<script" not in written["index-2.html"]
    assert len(written["index.html"].encode()) <= INDEX


def test_hostile_names_cannot_blow_up_the_page_nor_leave_its_data() -> None:
    page = render_index(many(300, "</script><script>alert(1)//" + '"' * 9000))
    assert len(page.encode()) <= INDEX
    assert page.count("<script") == 2


def test_pairs_that_share_passages_are_a_hint_to_look_at_both() -> None:
    pair = LookAlike("ada-lovelace", "<b>", is_same_file=True)
    page = render_index(samples.batch(), look_alikes=[pair])
    assert "Look at both" in page
    assert re.search(r">ada-lovelace</a> and &lt;b&gt; <span class=\"tag\">the same file<", page)
    assert "Look at both" not in render_index(samples.batch())
