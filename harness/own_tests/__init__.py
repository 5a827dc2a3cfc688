"""What a candidate's own tests find among known bugs; shown, and never points."""

from harness.own_tests.trial import SECONDS, has_own_tests, run_own_tests

__all__ = [
    "SECONDS",
    "has_own_tests",
    "run_own_tests",
]
