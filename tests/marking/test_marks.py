"""What stands about a form when reviewers have entered several things."""

from harness.marking import markings
from harness.reviews import WHOLE_FORM
from tests.marking.samples import mark, note


def test_the_last_entry_counts_and_all_reviewers_are_kept():
    marking = markings([mark(share=1.0), mark(share=0.5, reviewer="cy")])["ann"]
    assert marking.values == {"1.1": 0.5}
    assert marking.reviewers == ("bo", "cy")


def test_a_mark_of_nothing_counts_as_one_and_no_mark_takes_it_back():
    assert markings([mark(share=0.0)])["ann"].values == {"1.1": 0}
    assert markings([mark(), mark(share=None)])["ann"].values == {}


def test_an_empty_note_takes_a_note_back():
    assert markings([note("vague")])["ann"].notes == {"1": "vague"}
    assert markings([note("vague"), note("")])["ann"].notes == {}


def test_a_note_on_the_submission_or_on_a_check_is_no_part_of_a_marking():
    marking = markings([note("nice", about=""), note("odd", about="c09-softmax-dimension")])["ann"]
    assert not marking.notes
    assert not marking.reviewers


def test_a_form_is_reviewed_by_a_mark_on_the_whole_of_it_and_that_can_be_taken_back():
    whole = mark(WHOLE_FORM)
    assert markings([whole])["ann"].reviewed
    assert not markings([whole, mark(WHOLE_FORM, share=None)])["ann"].reviewed
    assert WHOLE_FORM not in markings([whole])["ann"].values


def test_submissions_are_told_apart():
    stands = markings([mark(), mark(submission="ben", share=0.0)])
    assert {name: marking.values["1.1"] for name, marking in stands.items()} == {"ann": 1, "ben": 0}
