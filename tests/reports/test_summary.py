from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from harness.text import join_lines
from reports import render_summary
from reports.summary import SUMMARY, code, plain
from reports.text import shown
from tests.reports import samples


def test_the_summary_opens_with_the_counts_and_a_table_best_first() -> None:
    text = render_summary(samples.batch())
    assert "**2** passed, **4** failed, **1** ungradeable, **1** invalid." in text
    assert text.index("ada-lovelace") < text.index("katherine-johnson") < text.index("grace-hopper")


def test_the_summary_says_why_a_submission_did_not_pass() -> None:
    text = render_summary(samples.batch())
    assert "Softmax over the queries" in text
    assert "- raised, `output-shape`: `ValueError: matmul" in text
    assert samples.ungradeable().result.reason in text


def test_a_submission_that_passed_gets_no_paragraph() -> None:
    assert "**`ada-lovelace`**" not in render_summary(samples.batch())


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_nothing_inside_a_code_span_can_end_it(text: str) -> None:
    span = code(text)
    if span:
        tokens = MarkdownIt("commonmark").parseInline(span)[0].children or []
        assert [token.type for token in tokens] == ["code_inline"]
        assert tokens[0].content.strip() == join_lines(shown(text))


@pytest.mark.parametrize(
    "text", ["# a", "*a*", "[a](b)", "<b>", "![a](b)", "`a`", "1. a", "a | b", "&amp;"]
)
def test_plain_text_is_read_as_it_stands(text: str) -> None:
    tokens = MarkdownIt("commonmark").enable("table").parse(f"## {plain(text)}")
    assert [child.type for child in tokens[1].children or []] == ["text"]
    assert (tokens[1].children or [])[0].content == text


def test_a_summary_fits_where_a_job_summary_may_go() -> None:
    one = samples.over_queries().result
    crowd = tuple(msgspec.structs.replace(one, id=f"{n}{'`' * 3000}") for n in range(3000))
    text = render_summary(msgspec.structs.replace(samples.batch(), submissions=crowd))
    assert len(text.encode()) <= SUMMARY
