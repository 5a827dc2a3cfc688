"""Why a submission could not be checked: the first question before the checks answered with no.

Did it load? Is what the brief asks defined? Does each call answer, with as many values as asked,
of the right kind, in the right order? Did it stay in its limits? The answers are read from the
recording and the outcomes, so that no call is made for them. The first check that meets the
cause keeps its outcome; what only follows from it is ``not_run``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from harness.candidate import Recorded, undefined_message
from harness.errors import CandidateError, CandidateRaised
from harness.evidence import expectation
from harness.grading.contract import ContractFlaw, broken_contract, refused_arguments
from harness.protocol import Answer
from harness.results import Cause, CauseKind, CheckResult, Outcome
from harness.spec import EntryPoint, Spec

#: What a check says that could only have met the cause again.
FOLLOWS: Final = "it could only meet the same again"
#: Outcomes by which a submission leaves its limits.
_LIMITS: Final = (Outcome.OUT_OF_RESOURCES, Outcome.TIMED_OUT, Outcome.CRASHED)
_MISSING: Final = ("ModuleNotFoundError", "ImportError")
#: Calls that are looked at, the smallest first: a contract is broken by each of them.
_CALLS: Final = 24


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """A cause, the checks that follow from it, and the contract flaw that it is, if any."""

    cause: Cause
    follows: frozenset[str]  #: ids of checks, that of ``cause.check`` not among them
    flaw: ContractFlaw | None = None

    def folded(self, checks: Sequence[CheckResult]) -> tuple[CheckResult, ...]:
        """Return the checks, with those that only follow from the cause as not run."""
        return tuple(
            msgspec.structs.replace(
                check,
                outcome=Outcome.NOT_RUN,
                message=FOLLOWS,
                hint="",
                line=None,
                file="",
                mismatch=None,
                question="",
                answer="",
            )
            if check.id in self.follows
            else check
            for check in checks
        )


def of_load(error: CandidateError, checks: Sequence[CheckResult]) -> Finding:
    """Return the finding for a submission that did not load."""
    line, file, kind = None, "", CauseKind.LIMIT
    if isinstance(error, CandidateRaised):
        line, file = error.line, error.file
        kind = CauseKind.PACKAGE if error.kind in _MISSING else CauseKind.LOAD
    missed = [check.id for check in checks if check.outcome.is_missed]
    cause = Cause(kind=kind, text=str(error), file=file, line=line, check=missed[0])
    return Finding(cause=cause, follows=frozenset(missed[1:]))


def find_cause(
    spec: Spec,
    checks: Sequence[CheckResult],
    recording: Sequence[Recorded],
    defined: frozenset[str] | None,
) -> Finding | None:
    """Return the first question that a submission which loaded answers with no, or None."""
    if not any(check.outcome.is_missed for check in checks):
        return None
    central = [point for point in spec.entry_points if point.is_core]
    for point in central or spec.entry_points:
        calls = [call for call in recording if call.point is point]
        if finding := (
            _undefined(point, checks, defined)
            or _refusing(point, checks, calls)
            or _raising(checks, calls)
            or _contract(spec, point, checks, calls)
        ):
            return finding
    return _limits(checks) or _undefined_beside(spec, checks, defined)


def _undefined(
    point: EntryPoint, checks: Sequence[CheckResult], defined: frozenset[str] | None
) -> Finding | None:
    """Is what the brief asks defined?"""
    if defined is None or point.name in defined:
        return None
    same = [check for check in checks if check.message == undefined_message(point.name)]
    return _finding(CauseKind.DEFINITION, same) if same else None


def _undefined_beside(
    spec: Spec, checks: Sequence[CheckResult], defined: frozenset[str] | None
) -> Finding | None:
    """Is an entry point that is not there all that keeps checks from passing?"""
    absent = [_undefined(point, checks, defined) for point in spec.entry_points]
    findings = [finding for finding in absent if finding is not None]
    explained = {finding.cause.check for finding in findings}.union(*(f.follows for f in findings))
    if not findings or {check.id for check in checks if check.outcome.is_missed} - explained:
        return None
    return findings[0]


def _refusing(
    point: EntryPoint, checks: Sequence[CheckResult], calls: Sequence[Recorded]
) -> Finding | None:
    """Does it take as many arguments, in the brief's order, as the brief gives it?"""
    for count in sorted({len(call.arguments) for call in calls}):
        errors = [call.answer.raised for call in calls if len(call.arguments) == count]
        if all(error is not None and _is_refusal(error) for error in errors):
            text = str(errors[0])
            alike = [c for c in checks if c.outcome is Outcome.RAISED and c.message == text]
            return _with_flaw(CauseKind.CALL, alike, refused_arguments(point, text))
    return None


def _is_refusal(error: CandidateRaised) -> bool:
    """Tell whether Python could not bind the arguments of the call itself."""
    return error.kind == "TypeError" and "positional argument" in error.message and not error.line


def _raising(checks: Sequence[CheckResult], calls: Sequence[Recorded]) -> Finding | None:
    """Does any call answer?"""
    if any(call.answer.raised is None for call in calls):
        return None
    called = {call.check for call in calls}
    raised = [check for check in checks if check.outcome is Outcome.RAISED]
    alike = [c for c in raised if c.id in called or c.message == raised[0].message]
    return _finding(CauseKind.RAISED, alike) if alike else None


def _contract(
    spec: Spec, point: EntryPoint, checks: Sequence[CheckResult], calls: Sequence[Recorded]
) -> Finding | None:
    """Does each call return as many values as asked, of the right kind, in the right order?"""
    called = {call.check for call in calls}
    failed = [c for c in checks if c.outcome is Outcome.FAILED and c.id in called]
    flaw = broken_contract(point, list(_answered(spec, calls)))
    return _with_flaw(CauseKind.RETURN, failed, flaw) if flaw is not None else None


def _with_flaw(kind: CauseKind, alike: Sequence[CheckResult], flaw: ContractFlaw) -> Finding | None:
    if not alike:
        return None
    finding = _finding(kind, alike)
    cause = msgspec.structs.replace(finding.cause, text=flaw.text, values=flaw.values)
    return msgspec.structs.replace(finding, cause=cause, flaw=flaw)


def _answered(
    spec: Spec, calls: Sequence[Recorded]
) -> Iterator[tuple[Answer, tuple[tuple[int, ...], ...]]]:
    """Yield small answers with the shapes that the outputs should have."""
    expect = spec.expect(spec.reference)
    answered = [call for call in calls if call.answer.raised is None]
    for call in sorted(answered, key=lambda one: one.size)[:_CALLS]:
        if expected := expectation(expect, call):
            yield call.answer, tuple(one.values.shape for one in expected)


def _limits(checks: Sequence[CheckResult]) -> Finding | None:
    """Did it stay in its limits, where leaving them ended it?"""
    idle = [check.id for check in checks if check.outcome is Outcome.NOT_RUN]
    first = next((c for c in checks if c.outcome in (*_LIMITS, Outcome.PROTOCOL_VIOLATION)), None)
    if first is None:
        return None
    same = [c for c in checks if c.outcome is first.outcome and c.message == first.message]
    others = [c for c in checks if c.outcome.is_missed and c not in same and c.id not in idle]
    if others and not idle:
        return None  # it went on, and was wrong besides
    return _finding(CauseKind.LIMIT, same)


def _finding(kind: CauseKind, alike: Sequence[CheckResult]) -> Finding:
    """Return the finding that the first of some checks met and the others only repeat."""
    first, *others = alike
    cause = Cause(kind=kind, text=first.message, file=first.file, line=first.line, check=first.id)
    return Finding(cause=cause, follows=frozenset(check.id for check in others))
