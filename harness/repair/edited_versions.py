"""Edited versions of one submission, run one after another in one process of the sandbox.

A version costs a few calls instead of a start of the process, which for torch takes seconds. What
one version leaves behind can only spoil the next: what is found here is proved afterwards, in a
fresh process.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from harness.candidate import Candidate, LoadReport, SandboxSession, Session, run_check
from harness.errors import CandidateError, SubmissionEnded
from harness.intake import SourceFile, Submission
from harness.protocol import Call
from harness.repair.search import OutOfTime
from harness.results import Outcome
from harness.sandbox import Limits, Sandbox
from harness.spec import Check, Spec

#: After so many failing checks a version is no repair.
FAILURES: Final = 2
#: A version that takes longer than this for one frame is none either.
EXCHANGE_SECONDS: Final = 2.0
#: So many that time out or crash end the search.
TIMEOUTS: Final = 8
_ENTER: Final = "enter_version"

#: What takes the entry file's place: it executes a version, and has its names from then on.
STAGE: Final = f"""
def {_ENTER}(source, given=dict(globals())):
    import linecache, sys, types
    name, file, text = given["__name__"], given["__file__"], bytes(source.tolist()).decode()
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    version = sys.modules[name] = types.ModuleType(name)
    version.__dict__.update(given)
    try:
        exec(compile(text, file, "exec", dont_inherit=True), version.__dict__)
    except BaseException:
        pass
    names, enter = globals(), {_ENTER}
    names.clear()
    names.update(version.__dict__, {_ENTER}=enter)
"""


class _HostSession(SandboxSession):
    """A session of the stage: whenever that is loaded, the version enters again."""

    version: bytes | None = None

    def load(self) -> LoadReport:
        """Load the stage, and the version in it."""
        report = super().load()
        if self.version is not None:
            self.enter(self.version)
        return report

    def enter(self, version: bytes) -> None:
        """Execute a version in the stage."""
        self.version = None
        argument = np.frombuffer(version, dtype=np.uint8)
        self.exchange([Call(name=_ENTER, arguments=(argument,))])
        self.version = version


class Versions:
    """Runs checks on edited sources of one submission."""

    def __init__(
        self,
        submission: Submission,
        spec: Spec,
        sandbox: Sandbox,
        limits: Limits,
        *,
        seed: str,
        seconds: float,
        clock: Callable[[], float],
    ) -> None:
        limits = dataclasses.replace(
            limits,
            exchange_seconds=min(EXCHANGE_SECONDS, limits.exchange_seconds),
            submission_seconds=seconds,
            timeouts=TIMEOUTS,
        )
        stage = edited(submission, STAGE.encode())
        self.session = _HostSession(
            stage, sandbox, limits, arrays=spec.arrays, blocked=spec.blocks_fused, clock=clock
        )
        self._spec = spec
        self._seed = seed

    def enter(self, source: bytes) -> bool:
        """Execute a version; tell whether the process survived it.

        Raises:
            OutOfTime: too much time is spent, or too many versions ended the process.
        """
        try:
            self.session.enter(source)
        except SubmissionEnded:
            raise OutOfTime from None
        except CandidateError:
            return False
        return True

    def passes(
        self,
        source: bytes,
        checks: Sequence[Check],
        session: Session,
        defined: frozenset[str] | None,
    ) -> frozenset[str]:
        """Run checks on a version until a few have failed; return those that passed."""
        passed: set[str] = set()
        if not self.enter(source):
            return frozenset()
        candidate = Candidate(self._spec, session, defined)
        for number, check in enumerate(checks):
            result = run_check(check, self._spec, candidate, self._seed)
            if result.outcome is Outcome.PASSED:
                passed.add(check.id)
            ended = result.outcome not in (Outcome.PASSED, Outcome.FAILED, Outcome.RAISED)
            if ended or number + 1 - len(passed) >= FAILURES:
                break
        return frozenset(passed)


def edited(submission: Submission, source: bytes) -> Submission:
    """Return the submission with another text of its entry file."""
    first, *others = submission.files
    changed = SourceFile(name=first.name, data=source)
    return dataclasses.replace(submission, files=(changed, *others))
