"""Two flaws are tried together, the likeliest first, and those that are the same at once."""

import dataclasses
import itertools

import numpy as np
import pytest

import specs
from harness.diagnosis.first_wrong_call import most_informative_wrong_call
from harness.diagnosis.pairs import TRIES, likeliest
from harness.spec.spec import disjoint
from tests.answers import answers

SPEC = specs.load("numpy_attention")
FLAWS = {flaw.id: flaw for flaw in SPEC.flaws}


class Sharing:
    """A call that each flaw changes, and the shares of its error."""

    def __init__(self, explained_variance_of_pairs):
        self._shares = np.array(explained_variance_of_pairs)

    def uses(self, flaw):
        return True

    changes = uses

    def grouped(self, flaws):
        return {flaw: [flaw] for flaw in flaws}

    def explained_variance_of_pairs(self, flaws):
        return self._shares


def flaws_of_parts(names):
    return [dataclasses.replace(FLAWS["no-scale"], id=id, parts={id: None}) for id in names]


@pytest.fixture(scope="module")
def first():
    """A call without a mask, that no single flaw explains."""
    truth = (FLAWS["scale-by-d"], FLAWS["softmax-over-queries"])
    return most_informative_wrong_call(SPEC, *answers(SPEC, SPEC.with_flaws(*truth)))


def pairs(first, masked_flaws=(), reported=()):
    flaws = [flaw for flaw in SPEC.flaws if flaw not in masked_flaws]
    return [
        [frozenset(flaw.id for flaw in pair) for pair in alike]
        for alike in likeliest(first, flaws, masked_flaws, reported)
    ]


def test_the_right_pair_is_among_the_first(first):
    wanted = {"scale-by-d", "softmax-over-queries"}
    # Of some 3,000 that are possible.
    assert wanted in itertools.chain.from_iterable(pairs(first)[:20])


def test_pairs_that_are_the_same_on_the_call_come_together(first):
    (group,) = (group for group in pairs(first) if {"scaled-twice", "sigmoid"} in group)
    assert {"scale-by-d", "sigmoid"} in group


def test_no_pair_is_tried_twice_and_none_after_so_many(first):
    found = [pair for (pair, *_) in pairs(first)]
    assert len(set(found)) == len(found) == TRIES


def test_a_pair_replaces_no_part_twice_and_is_not_one_mistake_in_two_spellings(first):
    for alike in likeliest(first, SPEC.flaws, (), ()):
        for pair in alike:
            assert disjoint(pair)
            assert pair[0].id != pair[1].id


def test_what_was_reported_to_come_together_comes_first_and_once():
    a, b, c = flaws_of_parts("abc")
    first = Sharing([[0, 0.2, 0.9], [0.2, 0, 0.4], [0.9, 0.4, 0]])
    assert list(likeliest(first, [a, b, c], (), [(b, c)])) == [[(b, c)], [(a, c)], [(a, b)]]


def test_what_does_not_change_the_call_is_in_no_pair(first):
    assert not any("mask-ignored" in pair for group in pairs(first) for pair in group)


def test_a_hindered_flaw_goes_only_with_one_that_is_not():
    a, b, c = flaws_of_parts("abc")
    first = Sharing([[0, 0.2, 0.3], [0.2, 0, 0.9], [0.3, 0.9, 0]])
    assert list(likeliest(first, [a], [b, c], ())) == [[(a, c)], [(a, b)]]


def test_pairs_come_by_the_share_of_the_error_that_they_make_up():
    a, b, c = flaws_of_parts("abc")
    first = Sharing([[0, 0.2, 0.9], [0.2, 0, 0.4], [0.9, 0.4, 0]])
    assert list(likeliest(first, [a, b, c], (), ())) == [[(a, c)], [(b, c)], [(a, b)]]
