"""Points separate: a right answer is above every mistake and every pair of mistakes."""

import random

import pytest

import specs
from harness.candidate import DirectSession, restore_credit, run_checks
from harness.diagnosis import diagnose, is_proven
from harness.results import Level
from tests.specs.classes import pairs

LOADED = [spec for name in specs.TITLES if (spec := specs.load(name)).image != "text"]

each_spec = pytest.mark.parametrize("spec", LOADED, ids=lambda spec: spec.name)

#: So many flaws of a spec are graded where there is no time for all.
SOME = 3


def points(spec, flaws):
    """Grade the reference with some flaws, as a submission."""
    functions = spec.assemble(spec.with_flaws(*flaws))
    checks, recording = run_checks(spec, DirectSession(functions, arrays=spec.arrays), "seed")
    if is_proven(spec, diagnose(spec, recording, checks, "seed")):
        checks = restore_credit(checks)
    return sum(check.earned for check in checks)


@each_spec
def test_every_check_of_the_pass_level_has_a_point(spec):
    """So that a submission that failed has less than all."""
    assert all(check.points for check in spec.checks if check.level is Level.PASS)


@each_spec
def test_some_flaws_earn_less_than_all(spec):
    drawn = random.Random(spec.name).sample(spec.flaws, SOME)
    assert all(points(spec, (flaw,)) < spec.possible for flaw in drawn)


@pytest.mark.slow
@each_spec
def test_every_flaw_earns_less_than_all(spec):
    assert all(points(spec, (flaw,)) < spec.possible for flaw in spec.flaws)


@pytest.mark.slow
@each_spec
def test_pairs_of_flaws_earn_less_than_all(spec):
    drawn = random.Random(spec.name).sample(pairs(spec), 20)
    assert all(points(spec, pair) < spec.possible for pair in drawn)
