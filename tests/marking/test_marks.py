"""Entries of reviewers, and what stands when there are several."""

import pytest

from harness.errors import UsageError
from harness.marking import decode, encode, markings
from tests.marking.samples import mark, note, reading


@pytest.mark.parametrize("entry", [mark(value=0.5), note("vague"), reading()])
def test_an_entry_is_the_same_after_it_was_written(entry):
    assert decode(encode(entry)) == entry


@pytest.mark.parametrize("value", [2, -1, 0.25, float("nan"), True])
def test_a_mark_is_nothing_half_or_whole(value):
    if value is True:
        assert mark(value=value).value == 1
        return
    with pytest.raises(ValueError, match=r"expected 0, 0\.5 or 1"):
        mark(value=value)


@pytest.mark.parametrize("row", ["{}", '{"kind": "mark"}', '{"kind": "kiss"}', "", b"\xff"])
def test_what_is_no_entry_is_refused(row):
    with pytest.raises(UsageError, match="cannot be read"):
        decode(row)


def test_a_mark_out_of_range_is_refused_as_json_too():
    with pytest.raises(UsageError, match=r"expected 0, 0\.5 or 1"):
        decode(encode(mark()).replace(b'"value":1', b'"value":7'))


def test_the_latest_entry_counts_whatever_the_order_and_all_reviewers_are_kept():
    first, second = mark(value=1, at="2026-01-01"), mark(value=0.5, reviewer="cy", at="2026-01-02")
    for entries in ([first, second], [second, first]):
        marking = markings(entries)["ann"]
        assert marking.values == {"1.1": 0.5}
        assert marking.reviewers == ("bo", "cy")


def test_an_empty_note_takes_a_note_back():
    written = note("vague", at="2026-01-01")
    assert markings([written])["ann"].notes == {"1": "vague"}
    assert markings([written, note("", at="2026-01-02")])["ann"].notes == {}


def test_a_reading_can_be_taken_back():
    assert markings([reading()])["ann"].reviewed
    assert not markings([reading(), reading(reviewed=False, at="2026-02-01")])["ann"].reviewed


def test_submissions_are_told_apart():
    stands = markings([mark(), mark(submission="ben", value=0)])
    assert {name: marking.values["1.1"] for name, marking in stands.items()} == {"ann": 1, "ben": 0}
