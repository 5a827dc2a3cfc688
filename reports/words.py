"""The words, signs and figures that every report uses for the same thing."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable
from typing import Final, NamedTuple

from harness.results import (
    LEVELS,
    Bug,
    CauseKind,
    CheckResult,
    Level,
    Number,
    Outcome,
    OwnTestsRemark,
    Points,
    SubmissionResult,
    Verdict,
    shared_message,
)
from harness.reviews import Choice


class Word(NamedTuple):
    """How one value is shown; the sign repeats in shape what the tone says in colour."""

    text: str
    sign: str
    tone: str  #: "good", "bad", "warn" or "calm"


VERDICTS: Final = {
    Verdict.PASSED: Word("Passed", "✓", "good"),
    Verdict.FAILED: Word("Failed", "✕", "bad"),
    Verdict.UNGRADEABLE: Word("Ungradeable", "?", "warn"),
    Verdict.AWAITING_REVIEW: Word("Awaiting review", "…", "warn"),
    Verdict.INVALID: Word("Invalid", "!", "warn"),
}

OUTCOMES: Final = {
    Outcome.PASSED: Word("passed", "✓", "good"),
    Outcome.FAILED: Word("wrong answer", "✕", "bad"),
    Outcome.RAISED: Word("raised", "✕", "bad"),
    Outcome.TIMED_OUT: Word("timed out", "✕", "bad"),
    Outcome.OUT_OF_RESOURCES: Word("out of resources", "✕", "bad"),
    Outcome.CRASHED: Word("crashed", "✕", "bad"),
    Outcome.PROTOCOL_VIOLATION: Word("protocol violation", "✕", "bad"),
    Outcome.NOT_RUN: Word("not run", "–", "calm"),
    Outcome.NOT_APPLICABLE: Word("not applicable", "–", "calm"),
    Outcome.INVALID: Word("invalid", "!", "warn"),
}

#: What a reviewer has chosen, with its sign.
CHOICES: Final = {
    Choice.ADVANCE: ("Advance", "→"),
    Choice.HOLD: ("Hold", "‖"),
    Choice.REJECT: ("Reject", "×"),
    Choice.UNDECIDED: ("Undecided", ""),
}

#: What a cause answers with no.
CAUSES: Final = {
    CauseKind.LOAD: "It does not load",
    CauseKind.PACKAGE: "A package is missing here",
    CauseKind.DEFINITION: "What the brief asks is not defined",
    CauseKind.CALL: "It cannot be called as the brief says",
    CauseKind.RETURN: "The call does not return what the brief asks",
    CauseKind.SHAPE: "The call returns other shapes than the brief asks",
    CauseKind.RAISED: "Every call raises",
    CauseKind.LIMIT: "It left its limits",
}

#: Why a candidate's own tests told less than they might have.
OWN_TESTS: Final = {
    OwnTestsRemark.NOT_READ: "No test could be read.",
    OwnTestsRemark.NEVER_CALLED: "The tests call no function that the brief names.",
    OwnTestsRemark.NONE_PASS: "No test passes with a right answer, so that none could find a bug.",
    OwnTestsRemark.TOO_SLOW: "The tests were too slow: not every known bug was tried.",
    OwnTestsRemark.ENDED: "The tests ended what they ran in: not every known bug was tried.",
}

#: Levels in English, with the word of the third source document beside them.
LEVEL_WORDS: Final = {
    Level.NONE: ("below pass", ""),
    Level.PASS: ("pass", "合格"),
    Level.GOOD: ("good", "良好"),
    Level.EXCELLENT: ("excellent", "优秀"),
}

#: Best first, the order in which a batch is listed.
_VERDICT_ORDER: Final = (
    Verdict.PASSED,
    Verdict.FAILED,
    Verdict.AWAITING_REVIEW,
    Verdict.UNGRADEABLE,
    Verdict.INVALID,
)


def failing(checks: tuple[CheckResult, ...]) -> tuple[CheckResult, ...]:
    """Return the checks that did not pass, lowest level first."""
    missed = [check for check in checks if check.outcome.is_missed]
    return tuple(sorted(missed, key=lambda check: LEVELS.index(check.level)))


def best_first(submissions: Iterable[SubmissionResult]) -> list[SubmissionResult]:
    """Sort by verdict, level, bugs, score and name; what was not graded comes last."""
    return sorted(
        submissions,
        key=lambda one: (
            _VERDICT_ORDER.index(one.verdict),
            -LEVELS.index(one.level),
            bug_count(one),
            -(one.earned or 0),
            one.id.casefold(),
        ),
    )


def bugs_of(result: SubmissionResult) -> tuple[Bug, ...]:
    """Return the bugs that are named, each by itself."""
    return tuple(bug for found in result.diagnosis for bug in found.bugs)


def bug_count(result: SubmissionResult) -> float:
    """Return how many bugs are named; without end where something fails that has no name."""
    named = len(bugs_of(result))
    if result.cause or (not named and any(check.outcome.is_missed for check in result.checks)):
        return math.inf
    return named


def happening(result: SubmissionResult) -> str:
    """Return in one sentence what happened to a submission: a fact, never a requirement."""
    fact = _fact(result)
    ours = not result.reason and (fact[1:2].islower() or fact[1:2] == " ")
    return fact[:1].upper() + fact[1:] if ours else fact


def _fact(result: SubmissionResult) -> str:
    if result.cause:
        return result.cause.text
    if result.diagnosis:
        return "; ".join(bug.title for bug in bugs_of(result))
    if result.reason:
        return result.reason
    missed = [c for c in failing(result.checks) if c.outcome is not Outcome.NOT_RUN]
    if shared := shared_message((check.outcome, check.message) for check in missed):
        return shared
    if not missed:
        return "Every check passes" if result.checks else ""
    first = missed[0]
    fact = first.message.split("\n")[0] or OUTCOMES[first.outcome].text
    more = f", and {plural(len(missed) - 1, 'more check')} failed" if len(missed) > 1 else ""
    return f"{first.id}: {fact}{more}"


def score(result: SubmissionResult) -> str:
    """Return ``"12 / 40"``, or a dash for what is not scored."""
    if result.earned is None:
        return "–"
    return f"{points(result.earned)} / {points(result.possible)}"


def points(number: Points) -> str:
    """Return points without a decimal where they are whole."""
    return str(int(number) if number == int(number) else number)


def plural(count: int, noun: str) -> str:
    """Return ``"1 check"`` or ``"1,204 checks"``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def duration(seconds: float) -> str:
    """Return a time with a unit that suits it."""
    if not math.isfinite(seconds):
        return "–"
    if seconds < 0.0005:
        return "< 1 ms"
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def figure(value: Number, digits: int = 6) -> str:
    """Return a number with ``digits`` significant digits, with a true minus sign."""
    value = float(value)
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return f"{value:.{digits}g}".replace("-", "−")


def figures(actual: Number, expected: Number) -> tuple[str, str]:
    """Return both numbers with as many digits as it takes to tell them apart."""
    for digits in (6, 9, 13):
        pair = figure(actual, digits), figure(expected, digits)
        if pair[0] != pair[1]:
            return pair
    return figure(actual, 17), figure(expected, 17)


def multiple(ratio: Number) -> str:
    """Return an error as a multiple of the rounding bound, in words."""
    ratio = float(ratio)
    if math.isnan(ratio):
        return "not comparable"
    if math.isinf(ratio):
        return "beyond any bound"
    if ratio < 10:
        return f"{ratio:.1f} times what rounding explains"
    if ratio < 1e6:
        return f"{float(f'{ratio:.3g}'):,.0f} times what rounding explains"
    return "over a million times what rounding explains"


def moment(time: str) -> str:
    """Return a time of ISO 8601 as a date and a time of day in UTC, or what it was."""
    try:
        then = datetime.datetime.fromisoformat(time)
    except ValueError:
        return time
    if then.tzinfo is not None:
        then = then.astimezone(datetime.UTC)
    return f"{then:%Y-%m-%d %H:%M}{' UTC' if then.tzinfo else ''}"
