from __future__ import annotations

import csv
import html.parser
import io
import json
import re
import xml.etree.ElementTree as ElementTree

import msgspec
import pytest
from markdown_it import MarkdownIt

from harness.results import BatchResults, Card, to_json
from reports import Context, render_card, render_csv, render_index, render_junit, render_summary
from tests.reports import samples
from tests.reports.payloads import PAYLOADS

#: All that our pages are built of.
ELEMENTS = frozenset(
    re.findall(
        r"\w+",
        """
        html head meta link title style body a header main footer section div p span strong i b
        h1 h2 h3 h4 ol ul li dl dt dd table caption thead tbody tr th td figure figcaption
        details summary blockquote pre code
        svg g rect path text tspan polyline nav del ins
        """,
    )
)

#: What the page of a batch has besides: its filters, its data, and the script that reads them.
CONTROLS = frozenset({"form", "label", "input", "select", "option", "button", "kbd", "script"})

#: What a reader could not see, or what a terminal would obey.
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]")


class Page(html.parser.HTMLParser):
    """Every tag of a page with its attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def without_surrogates(payload: str) -> str:
    """msgspec cannot carry a lone surrogate; intake replaces them before they get here."""
    return payload.encode("utf-8", "replace").decode()


def card(payload: str) -> Card:
    return samples.hostile(payload)


def batch(payload: str) -> BatchResults:
    refused = msgspec.structs.replace(
        samples.ungradeable().result, id=payload, reason=payload, card="cards/x.html"
    )
    graded = card(payload).result
    return BatchResults(
        specs=("numpy_attention",),
        title=payload,
        seed="1",
        environment=samples.ENVIRONMENT,
        submissions=(graded, refused),
        ignored=(payload,),
    )


def pages(payload: str) -> tuple[str, str]:
    return render_card(card(payload), Context(index="../index.html")), render_index(batch(payload))


@pytest.mark.parametrize("payload", PAYLOADS)
def test_a_page_holds_only_elements_and_attributes_of_our_own(payload: str) -> None:
    plain = {page: set() for page in (0, 1)}
    for number, text in enumerate(pages("plain words")):
        plain[number] = {(tag, name) for tag, attributes in Page(text).tags for name in attributes}
    for number, text in enumerate(pages(payload)):
        tags = Page(text).tags
        assert {tag for tag, _ in tags} <= (ELEMENTS | CONTROLS if number else ELEMENTS)
        assert sum(tag == "script" for tag, _ in tags) == 2 * number
        assert {(tag, name) for tag, attributes in tags for name in attributes} <= plain[number]


@pytest.mark.parametrize("payload", PAYLOADS)
def test_every_address_on_a_page_is_a_fragment_a_card_or_the_index(payload: str) -> None:
    for text in pages(payload):
        for _, attributes in Page(text).tags:
            assert not attributes.keys() & {"src", "srcset", "action", "formaction", "ping"}
            address = attributes.get("href")
            assert address is None or re.fullmatch(
                r"#[A-Za-z0-9_-]+|cards/[A-Za-z0-9._-]+\.html|\.\./index\.html|data:,", address
            )


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_report_holds_a_character_that_cannot_be_seen(payload: str) -> None:
    results = batch(payload)
    for text in (*pages(payload), render_junit(results), render_summary(results)):
        assert not UNSEEN.search(text)
    assert not UNSEEN.search(render_csv(results).replace("\r\n", "\n"))


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_cell_of_the_csv_starts_a_formula(payload: str) -> None:
    rows = list(csv.reader(io.StringIO(render_csv(batch(payload)), newline=""), strict=True))
    assert [len(row) for row in rows] == [len(rows[0])] * 3
    for row in rows[1:]:
        assert not [cell for cell in row if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]


@pytest.mark.parametrize("payload", PAYLOADS)
def test_junit_is_well_formed_and_has_no_forged_case(payload: str) -> None:
    tree = ElementTree.fromstring(render_junit(batch(payload)).encode())
    assert len(tree.findall(".//testcase")) == len(samples.CHECKS) + 1
    assert {element.tag for element in tree.iter()} <= {
        "testsuites", "testsuite", "properties", "property", "testcase", "failure", "system-out",
    }  # fmt: skip


@pytest.mark.parametrize("payload", PAYLOADS)
def test_text_of_a_submission_is_only_ever_code_in_the_summary(payload: str) -> None:
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    tokens = parser.parse(render_summary(batch(payload)))
    inline = [child for token in tokens for child in token.children or ()]
    kinds = {re.sub("_(open|close)$", "", token.type) for token in tokens}
    tables = {"table", "thead", "tbody", "tr", "th", "td"}
    assert kinds <= {"heading", "paragraph", "inline", "bullet_list", "list_item", *tables}
    assert {child.type for child in inline} <= {
        "text", "code_inline", "strong_open", "strong_close", "link_open", "link_close",
    }  # fmt: skip
    links = {child.attrs["href"] for child in inline if child.type == "link_open"}
    assert all(re.fullmatch(r"cards/[A-Za-z0-9._-]+\.html", str(link)) for link in links)
    below_the_title = [token for token in tokens[3:] if token.type == "inline"]
    children = [child for token in below_the_title for child in token.children or ()]
    prose = "".join(child.content for child in children if child.type == "text")
    assert "evil.example" not in prose
    assert "everyone" not in prose


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_line_of_the_summary_is_a_workflow_command(payload: str) -> None:
    lines = render_summary(batch(payload)).splitlines()
    assert not [line for line in lines if line.lstrip().startswith(("::", "##["))]


@pytest.mark.parametrize("payload", PAYLOADS)
def test_results_with_hostile_text_are_strict_json_and_come_back_equal(payload: str) -> None:
    def refuse(token: str) -> None:
        raise AssertionError(token)

    results = batch(without_surrogates(payload))
    content = to_json(results)
    json.loads(content, parse_constant=refuse)
    assert msgspec.json.decode(content, type=BatchResults) == results


def test_numbers_that_are_not_finite_survive_the_journey_through_json() -> None:
    saved = samples.nan_row()
    assert b"NaN" not in to_json(saved)
    back = msgspec.json.decode(to_json(saved), type=Card)
    assert back == saved
    assert render_card(back) == render_card(saved)


def test_text_that_looks_like_markup_is_still_there_to_read() -> None:
    text = "".join(Page(render_card(card("<b>&amp;</b>"))).text)
    assert "ValueError: <b>&amp;</b>" in text
