import dataclasses

import numpy as np
import pytest

from harness.errors import SpecError
from harness.results import Level
from harness.spec.spec import disjoint
from tests import toy


def test_a_flaw_takes_the_place_of_the_parts_it_names():
    parts = toy.SPEC.with_flaws(toy.TRIPLED)
    assert parts["multiply"](2) == 6
    assert parts["add"] is toy.REFERENCE["add"]
    assert toy.SPEC.reference["multiply"](2) == 4


def test_two_flaws_that_replace_different_parts_go_together():
    wrong_sum = dataclasses.replace(toy.TRIPLED, id="mean", parts={"add": lambda x: x.mean()})
    parts = toy.SPEC.with_flaws(toy.TRIPLED, wrong_sum)
    assert parts["multiply"](2) == 6
    assert parts["add"](np.array([1.0, 3.0])) == 2


def test_two_flaws_that_replace_the_same_part_are_an_error_that_names_it():
    with pytest.raises(SpecError, match=r"flaws replace \['multiply'\] twice"):
        toy.SPEC.with_flaws(toy.TRIPLED, toy.TRIPLED)


def test_flaws_are_disjoint_that_replace_different_parts():
    wrong_sum = dataclasses.replace(toy.TRIPLED, id="mean", parts={"add": lambda x: x.mean()})
    both = dataclasses.replace(toy.TRIPLED, id="both", parts={**toy.TRIPLED.parts, "add": abs})
    assert disjoint((toy.TRIPLED, wrong_sum))
    assert not disjoint((toy.TRIPLED, wrong_sum, both))


def test_the_parts_of_a_spec_cannot_be_changed():
    with pytest.raises(TypeError):
        toy.SPEC.with_flaws(toy.TRIPLED)["multiply"] = abs


def test_the_points_of_all_checks_are_possible():
    assert toy.SPEC.possible == 11


def test_the_top_level_is_the_highest_that_has_checks():
    assert toy.SPEC.top_level is Level.EXCELLENT
    assert dataclasses.replace(toy.SPEC, checks=toy.SPEC.checks[:2]).top_level is Level.PASS
