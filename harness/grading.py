"""One submission, one spec -> its card: the whole story.

A delivery is read and checked, loaded in a sandbox, run through the checks on this side of the
wall, and turned into results and evidence.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable

import msgspec

from harness.diagnosis import diagnose
from harness.errors import CandidateError, Refused, SandboxBroken
from harness.evidence import smallest_failure
from harness.identity import slug
from harness.intake import Delivery
from harness.parsing import Parser
from harness.results import Card, CheckResult, Outcome, SubmissionResult, Verdict
from harness.running import level_reached, run_checks, verdict
from harness.sandbox.base import Limits, Sandbox
from harness.session import LoadReport, SandboxSession
from harness.spec import Spec
from harness.submission import Submission
from harness.text import one_line


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """What every submission of a batch is graded by."""

    spec: Spec
    seed: str
    limits: Limits
    parser: Parser
    clock: Callable[[], float] = time.monotonic


def grade(delivery: Delivery, assignment: Assignment, sandbox: Sandbox) -> Card:
    """Grade one submission in a sandbox; whatever happens becomes a card."""
    began = assignment.clock()
    try:
        card = grade_submission(delivery.load(assignment.parser), assignment, sandbox)
    except Refused as refused:
        card = unscored(delivery.id, "", Verdict.UNGRADEABLE, str(refused), assignment, sandbox)
    seconds = round(assignment.clock() - began, 3)
    return msgspec.structs.replace(
        card, result=msgspec.structs.replace(card.result, seconds=seconds)
    )


def grade_submission(submission: Submission, assignment: Assignment, sandbox: Sandbox) -> Card:
    """Run the spec's checks against a submission that intake has accepted."""
    spec = assignment.spec
    session = SandboxSession(
        submission,
        sandbox,
        assignment.limits,
        arrays=spec.arrays,
        blocked=spec.blocks_fused,
        clock=assignment.clock,
    )
    try:
        report = _load(session)
        if report is not None and not report.names & {point.name for point in spec.entry_points}:
            reason = _no_entry_point(spec, report)
            card = unscored(
                submission.id, submission.sha256, Verdict.UNGRADEABLE, reason, assignment, sandbox
            )
        else:
            card = _score(submission, assignment, sandbox, session, report or LoadReport())
    except SandboxBroken as broken:
        return unscored(
            submission.id, submission.sha256, Verdict.INVALID, str(broken), assignment, sandbox
        )
    return msgspec.structs.replace(
        card, sources=submission.shown(assignment.parser), log=sandbox.log()
    )


def unscored(
    identifier: str,
    sha256: str,
    came_to: Verdict,
    reason: str,
    assignment: Assignment,
    sandbox: Sandbox,
) -> Card:
    """Return the card of a submission that gets no score, and the reason."""
    result = SubmissionResult(
        id=identifier,
        sha256=sha256,
        verdict=came_to,
        reason=reason,
        card=f"cards/{slug(identifier, sha256)}.html",
        possible=assignment.spec.possible,
    )
    return _card(result, assignment, sandbox)


def _load(session: SandboxSession) -> LoadReport | None:
    """Load the submission; None when it does not load, which every check then reports."""
    try:
        return session.load()
    except CandidateError:
        return None


def _score(
    submission: Submission,
    assignment: Assignment,
    sandbox: Sandbox,
    session: SandboxSession,
    report: LoadReport,
) -> Card:
    spec = assignment.spec
    checks, recording = run_checks(spec, session, assignment.seed, report.names or None)
    came_to = verdict(checks)
    wrong = any(check.outcome is not Outcome.PASSED for check in checks)
    evidence = smallest_failure(spec, recording) if wrong else None
    scored = came_to in (Verdict.PASSED, Verdict.FAILED)
    diagnosis = diagnose(spec, recording, checks, assignment.seed) if scored else ()
    result = SubmissionResult(
        id=submission.id,
        sha256=submission.sha256,
        verdict=came_to,
        reason=_broken_checks(checks) if came_to is Verdict.INVALID else "",
        card=f"cards/{slug(submission.id, submission.sha256)}.html",
        level=level_reached(checks),
        earned=None if came_to is Verdict.INVALID else sum(check.earned for check in checks),
        possible=spec.possible,
        diagnosis=diagnosis,
        notes=(*submission.notes, *report.notes),
        checks=checks,
        exchanges=session.exchanges,
    )
    card = _card(result, assignment, sandbox)
    return msgspec.structs.replace(card, evidence=(evidence,) if evidence else ())


def _broken_checks(checks: tuple[CheckResult, ...]) -> str:
    broken = [check for check in checks if check.outcome is Outcome.INVALID]
    return "; ".join(f"{check.id}: {check.message}" for check in broken)


def _card(result: SubmissionResult, assignment: Assignment, sandbox: Sandbox) -> Card:
    spec = assignment.spec
    return Card(spec=spec.name, title=spec.title, environment=sandbox.environment, result=result)


def _no_entry_point(spec: Spec, report: LoadReport) -> str:
    wanted = ", ".join(point.name for point in spec.entry_points)
    found = ", ".join(one_line(name, 60) for name in sorted(report.names)[:12]) or "nothing"
    return f"the submission defines {found}, expected {wanted}"
