"""What a submission answers, and which checks it fails, for tests of what is said of it."""

from harness.candidate.checks import run_checks
from harness.candidate.session import DirectSession
from harness.diagnosis.diagnosis import diagnose

SEED = "a seed of these tests"


def run(spec, functions, seed=SEED):
    """Return the results of all checks, and the recorded calls."""
    return run_checks(spec, DirectSession(functions, arrays=spec.arrays), seed)


def diagnosed(spec, functions):
    """Return what is said of an implementation."""
    checks, recording = run(spec, functions)
    return diagnose(spec, recording, checks, SEED)


def with_flaws(spec, *ids):
    """Return the reference with some flaws."""
    known = {flaw.id: flaw for flaw in spec.flaws}
    return spec.assemble(spec.with_flaws(*(known[id] for id in ids)))


def named(said):
    """Return the ids of all flaws that are named."""
    return {id for one in said for id in one.flaw.split("+")}


def answers(spec, parts, point="attention", seed="seed"):
    """Return the calls of one entry point, and the ids of the checks that failed."""
    checks, recording = run(spec, spec.assemble(parts), seed)
    failed = {check.id for check in checks if check.outcome != "passed"}
    return [call for call in recording if call.point.name == point], failed
