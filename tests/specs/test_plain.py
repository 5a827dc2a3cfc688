"""Plain answers are right, and each mistake in them is the flaw that it is named after."""

import pytest

import specs
from harness.candidate.checks import run_check, run_checks
from harness.candidate.functions import Candidate
from harness.candidate.session import DirectSession
from harness.results import Outcome

SPECS = {name: spec for name in ("numpy_attention", "torch_sdpa") if (spec := specs.load(name))}
BUGS = [(name, bug) for name, spec in SPECS.items() for bug in spec.plain.bugs]


def session(spec, text):
    namespace = {}
    exec(compile(text, "plain.py", "exec"), namespace)
    functions = {point.name: namespace[point.name] for point in spec.entry_points}
    return DirectSession(functions, arrays=spec.arrays)


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_the_plain_answer_passes_every_check(spec):
    checks, _ = run_checks(spec, session(spec, spec.plain.text), "seed")
    assert [(c.id, c.message) for c in checks if c.outcome is not Outcome.PASSED] == []


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
def test_at_most_forty_mistakes_are_known_and_none_of_them_twice(spec):
    ids = [bug.id for bug in spec.plain.bugs]
    assert len(ids) == len(set(ids)) <= 40
    assert len({bug.text for bug in spec.plain.bugs} | {spec.plain.text}) == len(ids) + 1


@pytest.mark.parametrize(("name", "bug"), BUGS, ids=[f"{name}-{bug.id}" for name, bug in BUGS])
def test_a_mistake_fails_every_check_that_catches_its_flaw(name, bug):
    spec = SPECS[name]
    (flaw,) = (flaw for flaw in spec.flaws if flaw.id == bug.id)
    candidate = Candidate(spec, session(spec, bug.text))
    results = [
        run_check(check, spec, candidate, "seed")
        for check in spec.checks
        if check.id in flaw.caught_by
    ]
    assert results
    assert [result.id for result in results if not result.outcome.is_missed] == []
