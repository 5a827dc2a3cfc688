"""A repair for a failing submission: edits of its source, tried and proved in its sandbox.

It never changes a score. Only the entry file is edited. Whatever goes wrong here, there is no
repair, and the card stays as it is.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from harness.candidate import SandboxSession, Session
from harness.errors import CandidateError, SandboxBroken
from harness.grading import Assignment, find_interface, grade_submission
from harness.intake import Submission, decode_python
from harness.repair.edited_versions import Versions, edited
from harness.repair.search import Edits, EditSearch, FailureFacts, OutOfTime, applied
from harness.results import Card, Outcome, Repair, RepairSearch, SubmissionResult, Verdict
from harness.sandbox import Sandbox
from harness.spec import Check
from harness.text import one_line, sanitise

RUNS: Final = 200
SECONDS: Final = 120.0
_DESCRIPTION_CAP: Final = 600
_DIFF_CAP: Final = 16 << 10
_QUICK_SECONDS: Final = 0.1


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RepairFinder:
    """Looks for a repair, within a number of edited sources and a time."""

    runs: int = RUNS
    seconds: float = SECONDS

    def __call__(
        self, card: Card, submission: Submission, assignment: Assignment, sandbox: Sandbox
    ) -> Card:
        """Return the card with a repair, if one is found."""
        if not is_failing(card.result):
            return card
        repair, search = None, RepairSearch()
        with contextlib.suppress(Exception):  # an extra, which must not cost a grade
            repair, search = self._repair(card.result, submission, assignment, sandbox)
        with contextlib.suppress(CandidateError, SandboxBroken):
            sandbox.log()  # ends it, and forgets what the edited versions printed
        return msgspec.structs.replace(card, repair=repair, search=search)

    def _repair(
        self,
        result: SubmissionResult,
        submission: Submission,
        assignment: Assignment,
        sandbox: Sandbox,
    ) -> tuple[Repair | None, RepairSearch]:
        spec = assignment.spec
        entry = submission.files[0]
        text = decode_python(entry.name, entry.data)
        names = _entries(result, assignment)
        edits = assignment.parser.edits(text, entries=names, torch=spec.arrays == "torch")
        if not edits:
            return None, RepairSearch()
        runner = _SandboxEditRunner(self, result, submission, text, assignment, sandbox)
        search = EditSearch(
            edits, _failure_facts(result, assignment, names, entry.name, text), runner
        )
        found = search.run(self.runs)
        searched = RepairSearch(versions=search.runs, is_finished=search.is_finished)
        if found is None:
            return None, searched
        after = applied(found.edits, text.encode()).decode()
        diff = assignment.parser.diff(text, after, name=entry.name)
        described = "; ".join(edit.description for edit in found.edits)
        repair = Repair(
            description=one_line(described, _DESCRIPTION_CAP),
            diff=sanitise(diff, _DIFF_CAP),
            lines=_changed_lines(diff),
            checks=len(result.checks),
            runs=found.runs,
        )
        return repair, searched


def is_failing(result: SubmissionResult) -> bool:
    """Tell whether there is something to repair."""
    return result.verdict in (Verdict.PASSED, Verdict.FAILED) and bool(_failing(result))


def is_explained(result: SubmissionResult) -> bool:
    """Tell whether bugs that have names explain everything that a submission gets wrong."""
    found = result.diagnosis
    return is_failing(result) and bool(found) and all(bug.flaw and bug.complete for bug in found)


def _changed_lines(diff: str) -> int:
    """Return how many lines a unified diff changes: one that is replaced counts once."""
    body = diff.split("\n")[2:]
    return max(sum(line.startswith(sign) for line in body) for sign in "+-")


def _failing(result: SubmissionResult) -> list[str]:
    """Return the checks that did not pass, those that take tenths of seconds last."""
    failing = (check for check in result.checks if check.outcome.is_missed)
    return [check.id for check in sorted(failing, key=lambda check: round(check.seconds, 1))]


def _quick(result: SubmissionResult) -> Iterator[str]:
    """Yield the checks that passed in less than a tenth of a second."""
    passed = (check for check in result.checks if check.outcome is Outcome.PASSED)
    yield from (check.id for check in passed if check.seconds < _QUICK_SECONDS)


def _entries(result: SubmissionResult, assignment: Assignment) -> list[str]:
    """Return the names of the entry points that failing checks are about, as they are written."""
    shares = _shares(result, assignment)
    return [point.name for point in assignment.spec.entry_points if shares[point.name]]


def _shares(result: SubmissionResult, assignment: Assignment) -> dict[str, float]:
    """Return for each entry point the share of the failing checks that need it."""
    failing = {*_failing(result)}
    needs = [c.criterion.needs for c in assignment.spec.checks if c.id in failing]
    points = assignment.spec.entry_points
    roles = {point.role for point in points}
    direct = [roles & {*need} for need in needs]
    return {
        point.name: sum((point.role in need) or not need for need in direct) / len(direct)
        for point in points
    }


def _failure_facts(
    result: SubmissionResult, assignment: Assignment, names: Sequence[str], name: str, text: str
) -> FailureFacts:
    shares = _shares(result, assignment)
    stages = [word for found in result.diagnosis for word in (found.flaw, found.stage)]
    return FailureFacts(
        failing=tuple(_failing(result)),
        passing=tuple(_quick(result)),
        stages=tuple(stages),
        shares=tuple(shares[name] for name in names),
        raised=tuple(_raised(result, name, text)),
    )


def _raised(result: SubmissionResult, name: str, text: str) -> Iterator[tuple[int, int]]:
    """Yield the bytes of the lines of the entry file in which failing checks made it raise."""
    ends = [0, *itertools.accumulate(len(line.encode()) + 1 for line in text.split("\n"))]
    own = (check for check in result.checks if check.file in ("", name))
    for number in sorted({check.line for check in own if check.line}):
        if number < len(ends):
            yield ends[number - 1], ends[number]


class _SandboxEditRunner:
    """Runs edited sources of one submission."""

    def __init__(
        self,
        finder: RepairFinder,
        result: SubmissionResult,
        submission: Submission,
        text: str,
        assignment: Assignment,
        sandbox: Sandbox,
    ) -> None:
        self._submission = submission
        self._source = text.encode()
        self._assignment = assignment
        self._sandbox = sandbox
        self._until = assignment.clock() + finder.seconds
        self._checks = {check.id: check for check in assignment.spec.checks}
        self._begin(result)
        failing = _failing(result)
        # Checks that fail only when others have run before them tell nothing alone.
        self._in_order = self._passed((), failing) >= {*failing}

    def _begin(self, result: SubmissionResult) -> None:
        """Load the submission once more as it is, to learn its conventions; then set the stage."""
        spec, assignment = self._assignment.spec, self._assignment
        whole = SandboxSession(
            self._submission, self._sandbox, assignment.limits,
            arrays=spec.arrays, blocked=spec.blocks_fused, clock=assignment.clock,
        )  # fmt: skip
        report = whole.load() if assignment.adapt else None
        self._versions = Versions(
            self._submission, spec, self._sandbox, assignment.limits,
            seed=assignment.seed, seconds=self._left(), clock=assignment.clock,
        )  # fmt: skip
        self._session: Session = self._versions.session
        self._defined: frozenset[str] | None = None
        if report is not None and self._versions.enter(self._source):
            interface = find_interface(spec, self._versions.session, report, assignment)
            self._session, self._defined = interface.session, interface.defined

    def _left(self) -> float:
        return max(self._until - self._assignment.clock(), 0.0)

    def passes(self, edits: Edits, checks: Sequence[str]) -> frozenset[str]:
        """Run checks on an edited source in the process that all of them share."""
        if not self._in_order:
            return self._passed(edits, checks)
        passed = self._passed(edits, [*self._checks])
        return passed & {*checks} if passed >= {*self._checks} else frozenset()

    def _passed(self, edits: Edits, checks: Sequence[str]) -> frozenset[str]:
        if not self._left():
            raise OutOfTime
        of_spec: list[Check] = [self._checks[name] for name in checks]
        source = applied(edits, self._source)
        return self._versions.passes(source, of_spec, self._session, self._defined)

    def proves(self, edits: Edits) -> bool:
        """Grade an edited source like any submission."""
        changed = edited(self._submission, applied(edits, self._source))
        card = grade_submission(changed, self._assignment, self._sandbox)
        return card.result.verdict is Verdict.PASSED and not _failing(card.result)
