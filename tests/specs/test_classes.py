"""Flaws that are the same function are known as classes, and every pair of flaws is caught."""

import random
import re
from pathlib import Path

import pytest

import specs
from harness.candidate.checks import run_checks
from harness.candidate.session import DirectSession
from harness.diagnosis.distance import distance, outputs, usable
from tests.specs.classes import apart, is_caught, lines_of, pairs, singles

TEXT = (Path(__file__).parents[2] / "docs" / "flaw-classes.md").read_text(encoding="utf-8")
LOADED = [spec for name in specs.TITLES if (spec := specs.load(name)).image != "text"]
#: So many pairs of a spec whose checks take long; the page lists what became of all.
SOME = 30

each_spec = pytest.mark.parametrize("spec", LOADED, ids=lambda spec: spec.name)


def section(spec):
    return re.search(rf"^## {spec.name}\n(.*?)(?=^## |\Z)", TEXT, re.M | re.S)[1]


@each_spec
def test_the_page_holds_the_classes_that_a_few_draws_give(spec):
    for line in lines_of(singles(spec, draws=3)):
        assert line in section(spec)


@each_spec
def test_the_page_counts_all_flaws_and_pairs(spec):
    assert f"{len(spec.flaws)} flaws, {len(pairs(spec))} pairs." in section(spec)


@each_spec
def test_every_pair_of_flaws_is_caught_unless_the_page_says_that_it_is_right(spec):
    some = pairs(spec)
    if spec.arrays == "torch":
        some = random.Random(spec.name).sample(some, min(SOME, len(some)))
    free = re.search(r"pairs that no check catches: (.*)", section(spec))[1]
    for pair in some:
        ids = " + ".join(flaw.id for flaw in pair)
        assert is_caught(spec, pair, "draw 0") or ids in free


@each_spec
def test_a_class_has_several_members_and_knows_them_all(spec):
    known = {flaw.id for flaw in spec.flaws}
    for line in re.findall(r"^- one class: (.*)", section(spec), re.M):
        members = line.split(", ")
        assert len(members) > 1
        assert set(members) <= known


HIDDEN = [(spec, flaw) for spec in LOADED for flaw in spec.flaws if flaw.hidden]


@pytest.mark.parametrize(
    ("spec", "flaw"), HIDDEN, ids=[f"{spec.name}-{flaw.id}" for spec, flaw in HIDDEN]
)
def test_no_output_shows_a_hidden_flaw(spec, flaw, seeds):
    right = spec.expect(spec.reference)
    functions = spec.assemble(spec.with_flaws(flaw))
    for seed in seeds:
        _, recording = run_checks(spec, DirectSession(functions, arrays=spec.arrays), seed)
        shown = [
            call.check
            for call in filter(usable, recording)
            if call.answer.raised is None and not distance(call, outputs(call, right)).fits
        ]
        assert not shown, f"seed {seed}"


def test_raising_and_answering_are_never_the_same():
    assert apart("ValueError", (), 1e-16)
    assert not apart("ValueError", "IndexError", 1e-16)
