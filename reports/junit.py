"""The batch as JUnit XML: one suite per submission, one test case per check."""

from __future__ import annotations

from functools import partial
from typing import Final

from junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite

from harness.results import BatchResults, CheckResult, Outcome, SubmissionResult, Verdict
from reports.pages import fitting
from reports.text import shown
from reports.words import OUTCOMES, multiple, score

#: Most bytes of the file; cases are never left out, only texts get shorter.
JUNIT: Final = 2 * 1024 * 1024

_FIELDS: Final = (4096, 400, 60)


def render_junit(results: BatchResults) -> str:
    """Return ``junit.xml``.

    What the submission did is a failure of the type of its outcome (``failed``, ``raised``,
    ``timed_out``, …); an error is always ours (``invalid``); ``not_run`` and
    ``not_applicable`` are skipped, as is the case ``review`` of what a person has yet to read.
    A submission that was not graded has a case ``gradeable`` that carries the reason.
    """
    return fitting((partial(_render, results, field) for field in _FIELDS), JUNIT)


def _render(results: BatchResults, field: int) -> str:
    report = JUnitXml(shown(results.title, field=field))
    for submission in results.submissions:
        report.add_testsuite(_suite(shown(submission, field=field)))
    report.update_statistics()  # type: ignore[no-untyped-call]  # junitparser has no types here
    content: bytes = report.tostring()  # type: ignore[no-untyped-call]
    return f'<?xml version="1.0" encoding="utf-8"?>\n{content.decode()}\n'


def _suite(result: SubmissionResult) -> TestSuite:
    owner = f"{result.spec}.{result.id}"
    suite = TestSuite(result.id)
    for name, value in (
        ("verdict", result.verdict.value),
        ("level", result.level.value),
        ("score", score(result)),
        ("bug", "; ".join(bug.title for bug in result.diagnosis)),
        ("sha256", result.sha256),
    ):
        if value:
            suite.add_property(name, value)
    cases = [_case(check, owner) for check in result.checks]
    if not any(check.outcome is Outcome.INVALID for check in result.checks):
        cases += _without_checks(result, owner)
    suite.add_testcases(cases)
    return suite


def _case(check: CheckResult, owner: str) -> TestCase:
    case = TestCase(f"{check.id}: {check.title}", owner, round(check.seconds, 6))
    details = _details(check)
    match check.outcome:
        case Outcome.PASSED:
            if check.note:
                case.system_out = check.note
        case Outcome.NOT_RUN | Outcome.NOT_APPLICABLE:
            case.result = [Skipped(check.message or OUTCOMES[check.outcome].text)]
        case Outcome.INVALID:
            case.result = [_result(Error, check.message, check.outcome.value, details)]
        case outcome:
            message = check.message or OUTCOMES[outcome].text
            case.result = [_result(Failure, message, outcome.value, details)]
    return case


def _without_checks(result: SubmissionResult, owner: str) -> list[TestCase]:
    """Return the case that carries a verdict which no check does."""
    if result.verdict is Verdict.AWAITING_REVIEW:
        review = TestCase("review", owner)
        review.result = [Skipped(result.reason or "a person has yet to read the answers")]
        return [review]
    if result.checks and result.verdict is not Verdict.INVALID:
        return []
    gradeable = TestCase("gradeable", owner)
    if result.verdict is Verdict.INVALID:
        gradeable.result = [_result(Error, result.reason, "invalid", "")]
    elif result.verdict is Verdict.UNGRADEABLE:
        gradeable.result = [_result(Failure, result.reason, "ungradeable", "")]
    return [gradeable]


def _result(kind: type[Error | Failure], message: str, token: str, text: str) -> Error | Failure:
    result = kind(message, token)
    result.text = text
    return result


def _details(check: CheckResult) -> str:
    lines = [check.message]
    if check.line is not None:
        lines.append(f"line {check.line}")
    if check.mismatch is not None:
        lines.append(f"error: {multiple(check.mismatch.ratio)}")
    if check.hint:
        lines.append(f"hint: {check.hint}")
    return "\n".join(line for line in lines if line)
