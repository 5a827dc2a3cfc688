"""What a submission answers, and which checks it fails, for tests of what is said of it."""

from harness.running import run_checks
from harness.session import DirectSession


def answers(spec, parts, point="attention", seed="seed"):
    """Return the calls of one entry point, and the ids of the checks that failed."""
    session = DirectSession(spec.assemble(parts), arrays=spec.arrays)
    checks, recording = run_checks(spec, session, seed)
    failed = {check.id for check in checks if check.outcome != "passed"}
    return [call for call in recording if call.point.name == point], failed
