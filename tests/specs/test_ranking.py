"""Points separate: a right answer is above every mistake, and that above what is no attention."""

import random

import pytest

import specs
from harness.candidate import DirectSession, restore_credit, run_checks
from harness.diagnosis import diagnose, is_proven
from tests.specs.classes import pairs

LOADED = [spec for name in specs.TITLES if (spec := specs.load(name)).image != "text"]

each_spec = pytest.mark.parametrize("spec", LOADED, ids=lambda spec: spec.name)

#: So many flaws of a spec are graded where there is no time for all.
SOME = 3


def points(spec, flaws):
    """Grade the reference with some flaws; trivial answers earn 0, as other tests prove."""
    functions = spec.assemble(spec.with_flaws(*flaws))
    checks, recording = run_checks(spec, DirectSession(functions, arrays=spec.arrays), "seed")
    if is_proven(spec, diagnose(spec, recording, checks, "seed")):
        checks = restore_credit(checks)
    return sum(check.earned for check in checks)


def misplaced(spec, sets):
    """Return the sets of flaws with the points of a right answer or of a trivial one."""
    earned = {"+".join(flaw.id for flaw in one): points(spec, one) for one in sets}
    return {ids: count for ids, count in earned.items() if not 0 < count < spec.possible}


def separating(spec):
    return [(flaw,) for flaw in spec.flaws if not flaw.is_trivial]


@each_spec
def test_some_flaws_earn_less_than_all_and_more_than_nothing(spec):
    assert not misplaced(spec, random.Random(spec.name).sample(separating(spec), SOME))


@pytest.mark.slow
@each_spec
def test_every_flaw_earns_less_than_all_and_more_than_nothing(spec):
    assert not misplaced(spec, separating(spec))


@pytest.mark.slow
@each_spec
def test_pairs_of_flaws_earn_less_than_all(spec):
    drawn = random.Random(spec.name).sample(pairs(spec), 20)
    assert all(points(spec, pair) < spec.possible for pair in drawn)
