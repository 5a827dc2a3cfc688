"""Ranks separate: a right answer is above every mistake, and that above what is no attention."""

import math
import random
from typing import NamedTuple

import pytest

import specs
from harness.candidate import DirectSession, level_reached, restore_credit, run_checks
from harness.diagnosis import diagnose, is_proven
from harness.results import LEVELS, Level, Outcome
from tests.specs.classes import pairs

LOADED = [spec for name in specs.TITLES if (spec := specs.load(name)).image != "text"]

each_spec = pytest.mark.parametrize("spec", LOADED, ids=lambda spec: spec.name)

#: So many flaws of a spec are graded where there is no time for all.
SOME = 3


class Graded(NamedTuple):
    """What the reference with some flaws comes to, as a submission."""

    level: int
    bugs: float  #: without end where something fails that has no name
    earned: float
    raised: bool  #: a check that decides the verdict met an exception

    @property
    def place(self):
        """The smaller, the better: as the pages rank a batch."""
        return -self.level, self.bugs, -self.earned


#: What an answer comes to that computes no attention: another test proves that it earns nothing.
TRIVIAL = Graded(0, math.inf, 0, raised=False)


def graded(spec, flaws):
    functions = spec.assemble(spec.with_flaws(*flaws))
    checks, recording = run_checks(spec, DirectSession(functions, arrays=spec.arrays), "seed")
    found = diagnose(spec, recording, checks, "seed")
    if is_proven(spec, found):
        checks = restore_credit(checks)
    missed = any(check.outcome.is_missed for check in checks)
    bugs = sum(len(one.bugs) for one in found) or (math.inf if missed else 0)
    raised = any(check.outcome is Outcome.RAISED for check in checks if check.level is Level.PASS)
    level = LEVELS.index(level_reached(checks))
    return Graded(level, bugs, sum(check.earned for check in checks), raised)


def misplaced(spec, sets):
    """Return the sets of flaws that do not rank between a right answer and a trivial one.

    Where a call raises or weights are drawn anew, there may be nothing to earn.
    """
    right = graded(spec, ())
    places = {flaws: graded(spec, flaws) for flaws in sets}
    return {
        "+".join(flaw.id for flaw in flaws): one
        for flaws, one in places.items()
        if not (
            right.place
            < one.place
            < (TRIVIAL.place if separates(flaws) and not one.raised else (1,))
        )
    }


#: Weights that every call draws anew: no output of it can be told from another's.
DRAWN_ANEW = "projection-in-forward"


def separates(flaws):
    return not any(f.is_trivial or f.random or f.id == DRAWN_ANEW for f in flaws)


@each_spec
def test_every_check_of_the_pass_level_has_a_point(spec):
    """So that a submission that failed has less than all."""
    assert all(check.points for check in spec.checks if check.level is Level.PASS)


@each_spec
def test_some_flaws_rank_below_right_and_above_trivial_answers(spec):
    assert not misplaced(
        spec, [(flaw,) for flaw in random.Random(spec.name).sample(spec.flaws, SOME)]
    )


@pytest.mark.slow
@each_spec
def test_every_flaw_ranks_below_right_and_above_trivial_answers(spec):
    assert not misplaced(spec, [(flaw,) for flaw in spec.flaws])


@pytest.mark.slow
@each_spec
def test_pairs_of_flaws_rank_below_a_right_answer(spec):
    """Not every pair has a name, and without one nothing that passes is earned."""
    right = graded(spec, ()).place
    drawn = random.Random(spec.name).sample(pairs(spec), 20)
    assert all(right < graded(spec, pair).place for pair in drawn)
