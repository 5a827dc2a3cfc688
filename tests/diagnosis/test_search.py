"""Flaws are searched one by one, then two by two, then with others that change other calls."""

import numpy as np
import pytest

import specs
from harness.diagnosis.search import FlawSearch
from tests.answers import answers

SPEC = specs.load("numpy_attention")
FLAWS = {flaw.id: flaw for flaw in SPEC.flaws}


def search(*ids, among=None):
    calls, failed = answers(SPEC, SPEC.with_flaws(*(FLAWS[id] for id in ids)))
    return FlawSearch(SPEC, calls, failed, list(FLAWS.values()) if among is None else among)


def ids(found):
    return {frozenset(flaw.id for flaw in explanation) for explanation in found.explanations}


def test_right_calls_are_not_searched():
    assert search("split-by-reshape").is_right


def test_the_smallest_set_is_found():
    assert ids(search("no-scale").found()) == {frozenset({"no-scale"})}


def test_a_pair_is_found_where_no_single_flaw_explains_all_calls():
    assert frozenset({"no-scale", "mask-ignored"}) in ids(
        search("no-scale", "mask-ignored").found()
    )


@pytest.mark.parametrize(
    "three",
    [
        ("scale-by-d", "softmax-over-queries", "mask-ignored"),
        ("no-scale", "mask-ignored", "assumes-contiguous"),
    ],
    ids="+".join,
)
def test_a_third_flaw_is_found_where_it_changes_other_calls(three, monkeypatch):
    assert frozenset(three) in ids(search(*three).found())
    monkeypatch.setattr("harness.diagnosis.search.MAX_EXTENSIONS", 0)
    assert search(*three).found() is None


def test_what_others_explain_as_well_is_said_though_tries_run_out(monkeypatch):
    # One explanation is found after 75; the tries end before all are through.
    monkeypatch.setattr("harness.diagnosis.search.MAX_EXTENSIONS", 80)
    found = ids(search("assumes-contiguous", "mask-not-broadcast", "scale-by-d").found())
    both = {"assumes-contiguous", "mask-not-broadcast"}
    assert found == {frozenset({*both, flaw}) for flaw in ("scale-by-d", "scaled-twice")}


def test_no_more_than_three_are_looked_for():
    four = ("scale-by-d", "softmax-over-queries", "mask-ignored", "assumes-contiguous")
    assert search(*four).found() is None


def test_pairs_are_not_tried_where_a_flaw_of_other_calls_completes_the_first(monkeypatch):
    monkeypatch.setattr("harness.diagnosis.search.likeliest", None)
    assert frozenset({"no-scale", "mask-ignored"}) in ids(
        search("no-scale", "mask-ignored").found()
    )


def test_a_flaw_of_other_calls_is_found_in_another_style():
    _, style = SPEC.in_styles()
    truth = (FLAWS["softmax-over-queries"], FLAWS["mask-of-first-item"])
    found = FlawSearch(SPEC, *answers(style, style.with_flaws(*truth)), SPEC.flaws).found()
    assert frozenset({"softmax-over-queries", "mask-of-first-item"}) in ids(found)


def test_a_flaw_that_another_keeps_from_failing_a_check_is_found_beside_it():
    calls, failed = answers(SPEC, SPEC.with_flaws(FLAWS["no-scale"], FLAWS["mask-ignored"]))
    others = [flaw for flaw in SPEC.flaws if flaw.id != "mask-ignored"]
    found = FlawSearch(SPEC, calls, failed, others, masked_flaws=[FLAWS["mask-ignored"]]).found()
    assert frozenset({"no-scale", "mask-ignored"}) in ids(found)


def noise(weights, width):
    return weights * np.random.default_rng().random(weights.shape)


def refuse(logits, allowed):
    raise KeyError("mask")


@pytest.mark.parametrize(
    "parts", [{"scale_weights": noise}, {"mask": refuse}], ids=["random", "raised"]
)
def test_flaws_are_not_put_together_for_outputs_that_differ_or_where_all_are_right(
    parts, monkeypatch
):
    monkeypatch.setattr("harness.diagnosis.search.likeliest", None)
    calls, failed = answers(SPEC, {**SPEC.reference, **parts})
    assert FlawSearch(SPEC, calls, failed, SPEC.flaws).found() is None


def test_a_flaw_that_is_not_among_those_that_may_be_there_is_not_found():
    others = [flaw for flaw in SPEC.flaws if flaw.id != "sigmoid"]
    assert search("sigmoid", among=others).found() is None


def test_what_is_found_says_how_near_it_is_and_how_far_the_next():
    found = search("no-scale").found()
    assert found.difference < 1e-12
    assert found.next > 1e-3
    assert found.calls > 50
    assert (found.raised, found.unexplained) == (0, 0)


def test_calls_that_raise_as_the_flaw_does_are_explained():
    found = search("square-only").found()
    assert ids(found) == {frozenset({"square-only"})}
    assert found.raised > 0
    assert found.unexplained == 0


def test_one_mistake_in_two_spellings_is_no_pair():
    first, second = FLAWS["batch-dropped"].spellings()
    assert not first.parts.keys() & second.parts.keys()
    calls, failed = answers(SPEC, {**SPEC.reference, **first.parts, **second.parts})
    assert FlawSearch(SPEC, calls, failed, [first, second]).found() is None
