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
    ``timed_out``, …); an error is always ours (``invalid``); ``not_run`` is skipped.
    A submission that was not graded has a case ``gradeable`` that carries the reason.
    """
    return fitting((partial(_render, results, field) for field in _FIELDS), JUNIT)


def _render(results: BatchResults, field: int) -> str:
    report = JUnitXml(shown(results.title, field=field))
    for submission in results.submissions:
        report.add_testsuite(_suite(shown(submission, field=field), results.spec))
    report.update_statistics()  # type: ignore[no-untyped-call]  # junitparser has no types here
    content: bytes = report.tostring()  # type: ignore[no-untyped-call]
    return f'<?xml version="1.0" encoding="utf-8"?>\n{content.decode()}\n'


def _suite(result: SubmissionResult, spec: str) -> TestSuite:
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
    cases = [_case(check, f"{spec}.{result.id}") for check in result.checks]
    told = {check.outcome for check in result.checks}
    if not told or (result.verdict is Verdict.INVALID and Outcome.INVALID not in told):
        cases.append(_gradeable(result, f"{spec}.{result.id}"))
    suite.add_testcases(cases)
    return suite


def _case(check: CheckResult, owner: str) -> TestCase:
    case = TestCase(f"{check.id}: {check.title}", owner, round(check.seconds, 6))
    details = _details(check)
    match check.outcome:
        case Outcome.PASSED:
            if check.note:
                case.system_out = check.note
        case Outcome.NOT_RUN:
            case.result = [Skipped(check.message or "not run")]
        case Outcome.INVALID:
            case.result = [_result(Error, check.message, check.outcome.value, details)]
        case outcome:
            message = check.message or OUTCOMES[outcome].text
            case.result = [_result(Failure, message, outcome.value, details)]
    return case


def _gradeable(result: SubmissionResult, owner: str) -> TestCase:
    case = TestCase("gradeable", owner)
    if result.verdict is Verdict.INVALID:
        case.result = [_result(Error, result.reason, "invalid", "")]
    elif result.verdict is Verdict.UNGRADEABLE:
        case.result = [_result(Failure, result.reason, "ungradeable", "")]
    return case


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
