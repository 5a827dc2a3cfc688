from __future__ import annotations

import pytest

from harness.results import CardSource
from reports.source import Listing, anchor_of, highlighted, listings
from tests.reports import samples


def texts(listing: Listing) -> list[str]:
    return ["".join(token.text for token in line.tokens) for line in listing.lines]


@pytest.mark.parametrize(
    "markup",
    [
        '<span class="k" onclick="alert(1)">x</span>',
        '<span class="k"><script>x</script></span>',
        "<b>x</b>",
        '<span class="k">y</span>',
        '<span class="k">x',
    ],
)
def test_highlighting_that_is_not_exactly_spans_over_the_same_text_is_dropped(markup: str) -> None:
    assert highlighted(CardSource(name="x.py", text="x", html=markup)) == [("", "x")]


def test_highlighting_that_keeps_to_the_rules_is_shown() -> None:
    tokens = highlighted(samples.source("def f(x):\n    return 'a<b'\n"))
    assert ("keyword", "def ") in tokens
    assert ("string", "'a<b'\n") in tokens


@pytest.mark.parametrize(
    "text", [samples.RIGHT, "\n\n\nx = 1\n", "a = '''\n\n'''\n\n\n", "é\tß\r\ny\r\n"]
)
def test_the_lines_of_a_listing_are_the_lines_of_the_file(text: str) -> None:
    (listing,) = listings((samples.source(text),), budget=10**6)
    assert texts(listing) == text.rstrip().splitlines()


def test_line_numbers_do_not_move_when_the_highlighter_drops_blank_lines() -> None:
    source = CardSource(name="x.py", text="\n\nx\n", html='<span class="n">x</span>\n')
    (listing,) = listings((source,), budget=10**6)
    assert texts(listing) == ["", "", "x"]


def test_a_long_file_is_cut_and_says_how_many_lines_are_missing() -> None:
    (listing,) = listings((samples.source("x = 1\n" * 10_000),), budget=10_000)
    assert len(listing.lines) + listing.hidden == 10_000
    assert 100 < len(listing.lines) < 250


def test_the_lines_of_a_second_file_have_anchors_of_their_own() -> None:
    first, second = listings((samples.source("x"), samples.source("x")), budget=10**6)
    assert (first.lines[0].anchor, second.lines[0].anchor) == ("L1", "f2-L1")


def test_a_line_is_found_in_the_file_that_is_named() -> None:
    files = listings((samples.source("1\n2\n", "a.py"), samples.source("3\n", "b.py")), budget=999)
    assert anchor_of("b.py", 1, files) == "f2-L1"
    assert anchor_of("", 2, files) == "L2"
    assert anchor_of("c.py", 1, files) == ""
    assert anchor_of("c.py", 1, files[:1]) == "L1"
    assert anchor_of("a.py", 9, files) == anchor_of("a.py", None, files) == ""
