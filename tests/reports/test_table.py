from __future__ import annotations

import csv
import io

import msgspec
import pytest

from reports import render_csv
from tests.reports import samples


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))


def test_every_submission_is_a_row_in_the_order_of_the_results() -> None:
    assert [row["id"] for row in rows(render_csv(samples.batch()))] == [
        one.id for one in samples.batch().submissions
    ]


def test_a_row_holds_verdict_score_bug_and_the_outcome_of_every_check() -> None:
    row = rows(render_csv(samples.batch()))[1]
    assert (row["verdict"], row["level"], row["earned"], row["possible"]) == (
        "failed",
        "none",
        "22",
        "41",
    )
    assert (row["flaw"], row["stage"], row["missed"]) == ("softmax-over-queries", "normalise", "7")
    assert (row["scale"], row["softmax-axis"]) == ("passed", "failed")


def test_what_is_not_scored_has_empty_cells_and_no_zero() -> None:
    row = rows(render_csv(samples.batch()))[-1]
    assert (row["earned"], row["level"], row["missed"], row["scale"]) == ("", "", "", "")


def test_lines_end_as_rfc_4180_says() -> None:
    text = render_csv(samples.batch())
    assert text.endswith("\r\n")
    assert text.count("\n") == text.count("\r\n") == len(samples.batch().submissions) + 1


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "＝", "  =", "\t=", "\r="])
def test_a_text_that_starts_a_formula_gets_an_apostrophe(start: str) -> None:
    result = msgspec.structs.replace(samples.right().result, id=f"{start}1+1")
    batch = msgspec.structs.replace(samples.batch(), submissions=(result,))
    assert rows(render_csv(batch))[0]["id"].startswith(("'", "<U+000D>"))
