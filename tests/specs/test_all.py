"""What makes a spec trustworthy, proved for every spec: right answers pass, flaws are caught."""

import itertools

import numpy as np
import pytest

import specs
from harness.candidate.checks import level_reached, run_check, run_checks, verdict
from harness.candidate.functions import Candidate
from harness.candidate.session import DirectSession
from harness.results import Outcome, Verdict

#: Specs whose submissions define functions, so that a test can put others in their place.
FUNCTIONS = ("numpy_attention", "torch_sdpa")
LOADED = {name: specs.load(name) for name in specs.TITLES}
FLAWS = [
    (name, spelling)
    for name, spec in LOADED.items()
    for flaw in spec.flaws
    for spelling in flaw.spellings()
]

each_spec = pytest.mark.parametrize("spec", LOADED.values(), ids=LOADED)


each_flaw = pytest.mark.parametrize(
    ("name", "flaw"), FLAWS, ids=[f"{name}-{flaw.id}" for name, flaw in FLAWS]
)


def session(spec, functions):
    return DirectSession(functions, arrays=spec.arrays)


@each_spec
def test_the_reference_passes_every_check(spec, seeds):
    for seed in seeds:
        checks, _ = run_checks(spec, session(spec, spec.assemble(spec.reference)), seed)
        wrong = [c for c in checks if c.outcome is not Outcome.PASSED or "imprecise" in c.note]
        assert not wrong, f"seed {seed}: {[(c.id, c.message, c.note) for c in wrong]}"
        assert sum(check.earned for check in checks) == spec.possible
        assert level_reached(checks) is spec.top_level
        assert verdict(checks) is Verdict.PASSED


@each_flaw
def test_a_flaw_is_caught_by_the_checks_it_names(name, flaw, seeds):
    spec = LOADED[name]
    named = [check for check in spec.checks if check.id in flaw.caught_by]
    assert named, f"{flaw.id} names no check of {name}"
    functions = spec.assemble(spec.with_flaws(flaw))
    candidate = Candidate(spec, session(spec, functions))
    for seed in seeds:
        for check in named:
            result = run_check(check, spec, candidate, seed)
            missed = result.outcome.is_missed and result.outcome is not Outcome.INVALID
            assert missed, f"{seed}: {result}"


@each_spec
def test_every_check_is_failed_by_a_flaw(spec):
    named = {check for flaw in spec.flaws for check in flaw.caught_by}
    assert {check.id for check in spec.checks} <= named


@each_spec
def test_flaws_are_told_apart_by_id_and_carry_a_question(spec):
    ids = [flaw.id for flaw in spec.flaws]
    assert len(ids) == len(set(ids))
    mute = [f.id for f in spec.flaws if not (f.title and f.question and f.answer)]
    assert not mute


def uniform(logits):
    return logits * 0 + 1 / logits.shape[-1]


def hardest(logits):
    peak = logits.max(-1, keepdims=True)
    return (logits == (peak if isinstance(logits, np.ndarray) else peak.values)) * 1.0


TRIVIAL_PARTS = {
    "uniform weights": {"normalise": uniform},
    "mean of V": {"normalise": uniform, "mask": lambda logits, allowed: logits},
    "argmax": {"normalise": hardest},
    "V": {"aggregate": lambda weights, query, key, value: value},
    "identity": {"normalise": lambda logits: logits * 0 + np.eye(*logits.shape[-2:])},
}


def blank(function, fill):
    """Replace every array that a function returns."""

    def trivial(*arguments):
        returned = function(*arguments)
        if isinstance(returned, tuple):
            return tuple(fill(array) for array in returned)
        return fill(returned)

    return trivial


FILLS = {
    "zeros": lambda array: array * 0,
    "ones": lambda array: array * 0 + 1,
    "random": lambda array: array * 0 + np.random.default_rng(0).normal(size=tuple(array.shape)),
}


def trivial_answers(spec):
    functions = spec.assemble(spec.reference)
    for name, fill in FILLS.items():
        yield name, {key: blank(function, fill) for key, function in functions.items()}
    attention = next(point.name for point in spec.entry_points if point.role == "attention")
    zeros = {key: blank(function, FILLS["zeros"]) for key, function in functions.items()}
    for name, parts in TRIVIAL_PARTS.items():
        trivial = spec.assemble({**spec.reference, **parts})[attention]
        yield name, {**zeros, attention: trivial}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_trivial_answers_earn_nothing(name):
    spec = LOADED[name]
    for answer, functions in trivial_answers(spec):
        checks, _ = run_checks(spec, session(spec, functions), "seed")
        earned = {check.id: check.earned for check in checks if check.earned}
        assert not earned, f"{answer} earns {earned}"
        assert verdict(checks) is Verdict.FAILED


HOSTILE = (
    None,
    "0.5",
    True,
    float("nan"),
    np.zeros(0),
    np.zeros((0, 3)),
    np.float64(1.0),
    np.ones((1, 1)),
    np.ones((2, 3, 5, 7)),
    np.full((2, 5, 9), np.nan),
    np.full((2, 5, 7), np.inf),
    np.ones((2, 5, 9), dtype=complex),
    np.ones((2, 5, 7), dtype=bool),
    np.ones((2, 5, 9), dtype=np.int8),
    np.ones((2, 6, 4), dtype=np.float16),
    {"out": 1},
    [],
    [[1, 2], [3]],
    object(),
)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_answer_breaks_a_check(name):
    spec = LOADED[name]
    answers = [*HOSTILE, *itertools.product(HOSTILE[:13], HOSTILE[8:13])]
    for answer in answers:
        functions = {point.name: lambda *_, it=answer: it for point in spec.entry_points}
        checks, _ = run_checks(spec, session(spec, functions), "seed")
        broken = [(check.id, check.message) for check in checks if check.outcome == "invalid"]
        assert not broken, f"{answer!r}: {broken}"
