"""A candidate's own tests against a right answer, and then against one known bug after another.

Only tests that pass with the right answer are asked about bugs. Everything here is the
candidate's word: the tests run in a container that holds nothing of the grading, and what they
say becomes a few numbers and names on the card.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from harness.errors import CandidateError, CandidateTimedOut
from harness.intake import Submission
from harness.results import Bug, Card, OwnTests, OwnTestsRemark, Verdict
from harness.sandbox import OwnTestsReport, OwnTestsRunner
from harness.spec import KnownBug, Spec
from harness.text import one_line
from harness.worker.own_tests.pytest_run import is_test

#: For all of it, from the first test to the last.
SECONDS: Final = 20.0
BUGS_CAP: Final = 40
_FAILING_CAP: Final = 10
_NAME_CAP: Final = 120
_COUNT_CAP: Final = 1_000_000
#: A run with a bug may take so much longer than the one without.
_SLACK: Final = 3.0
_SLACK_SECONDS: Final = 1.0


def has_own_tests(card: Card) -> bool:
    """Tell whether a submission that was graded has files of tests, named as pytest knows them."""
    names = (source.name for source in card.sources)
    graded = card.result.verdict in (Verdict.PASSED, Verdict.FAILED)
    return graded and any(is_test(name) and not name.endswith("conftest.py") for name in names)


def run_own_tests(
    submission: Submission,
    spec: Spec,
    runner: OwnTestsRunner,
    *,
    clock: Callable[[], float] = time.monotonic,
) -> OwnTests:
    """Run the tests of a submission; what they do to themselves is a remark, not an error.

    Raises:
        SandboxBroken: the engine failed.
    """
    assert spec.plain is not None
    trial = _Trial(
        runner=runner,
        entry=submission.entry,
        names=tuple(point.name for point in spec.entry_points),
        until=clock() + SECONDS,
        clock=clock,
    )
    bugs = spec.plain.bugs[:BUGS_CAP]
    try:
        runner.give({file.name: file.data for file in submission.files})
        began = clock()
        right = trial.run(spec.plain.text, None, SECONDS / 2)
    except CandidateError as error:
        return OwnTests(known=len(bugs), remark=_remark(error))
    tests = _read(right, len(bugs))
    if tests.remark:
        return tests
    passing = [name for name in right.passed if name not in right.failed]
    slack = _SLACK * (clock() - began) + _SLACK_SECONDS
    return trial.try_bugs(tests, bugs, passing, errors=len(right.errors), seconds=slack)


def _read(right: OwnTestsReport, known: int) -> OwnTests:
    """Return what the run against a right answer tells."""
    failing = {*right.failed}
    passing = [name for name in right.passed if name not in failing]
    remark = OwnTestsRemark.NONE
    if not right.collected:
        remark = OwnTestsRemark.NOT_READ
    elif not right.called:
        remark = OwnTestsRemark.NEVER_CALLED
    elif not passing:
        remark = OwnTestsRemark.NONE_PASS
    named = [*right.errors, *right.failed][:_FAILING_CAP]
    return OwnTests(
        collected=min(max(right.collected, 0), _COUNT_CAP),
        passing=len(passing),
        failing=tuple(one_line(name, _NAME_CAP) for name in named),
        known=known,
        remark=remark,
    )


def _remark(error: CandidateError) -> OwnTestsRemark:
    timed_out = isinstance(error, CandidateTimedOut)
    return OwnTestsRemark.TOO_SLOW if timed_out else OwnTestsRemark.ENDED


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Trial:
    runner: OwnTestsRunner
    entry: str
    names: tuple[str, ...]
    until: float
    clock: Callable[[], float]

    def run(self, text: str, only: Sequence[str] | None, seconds: float) -> OwnTestsReport:
        left = self.until - self.clock()
        if left <= 0:
            raise CandidateTimedOut("the time for the tests was spent")
        seconds = min(seconds, left)
        return self.runner.run(text, self.names, entry=self.entry, only=only, seconds=seconds)

    def try_bugs(
        self,
        tests: OwnTests,
        bugs: Sequence[KnownBug],
        only: Sequence[str],
        *,
        errors: int,
        seconds: float,
    ) -> OwnTests:
        """Run the tests against one bug after another; a run that does not end tells nothing."""
        found: list[Bug] = []
        missed: list[Bug] = []
        remark = OwnTestsRemark.NONE
        for bug in bugs:
            try:
                report = self.run(bug.text, only, seconds)
                noticed = {*report.failed} & {*only} or len(report.errors) > errors
            except CandidateError as error:
                remark = remark or _remark(error)
                continue
            (found if noticed else missed).append(bug.bug)
        return msgspec.structs.replace(
            tests, found=tuple(found), missed=tuple(missed), remark=remark
        )
