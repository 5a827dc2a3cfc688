"""What a batch says about its people together: levels, checks, bugs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from harness.results import LEVELS, CheckResult, Level, Outcome, SubmissionResult
from reports.words import bugs_of

#: Upper and lower share of a cohort that item discrimination compares (Kelley 1939).
GROUP: Final = 0.27

#: Below so many submissions a difference between two groups says nothing.
FEWEST: Final = 8

#: How a check's outcome is spelled in a row's strip: one letter for each check of the batch.
LETTERS: Final = {
    Outcome.PASSED: "p",
    Outcome.NOT_RUN: "n",
    Outcome.NOT_APPLICABLE: "a",
    Outcome.INVALID: "n",
}
_MISSED: Final = "f"
_ABSENT: Final = "a"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckStatistics:
    """How one check went over a whole batch."""

    id: str
    title: str
    place: int  #: its column in the strips
    passed: int
    total: int  #: submissions to which it applied and which it was run on
    separation: float | None  #: pass rate of the best minus that of the last; None if unknown

    @property
    def share(self) -> int:
        return round(100 * self.passed / self.total) if self.total else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelCount:
    """How many reached a level and none above it."""

    level: Level
    count: int
    share: int  #: percent of those that were scored


def columns(submissions: Sequence[SubmissionResult]) -> dict[str, int]:
    """Return the place of each check of a batch in the strips, by its id."""
    ids = dict.fromkeys(check.id for one in submissions for check in one.checks)
    return {name: place for place, name in enumerate(ids)}


def strip_letters(result: SubmissionResult, places: dict[str, int]) -> str:
    """Return the outcomes of a submission as letters: p, f, n (not run), a (does not apply)."""
    letters = [_ABSENT] * len(places)
    for check in result.checks:
        letters[places[check.id]] = LETTERS.get(check.outcome, _MISSED)
    return "".join(letters) if result.checks else ""


def level_counts(submissions: Sequence[SubmissionResult]) -> tuple[LevelCount, ...]:
    """Count the levels that were reached, best first; levels that no check has are left out."""
    scored = [one for one in submissions if one.earned is not None]
    offered = {check.level for one in scored for check in one.checks} | {Level.NONE}
    counts = Counter(one.level for one in scored)
    return tuple(
        LevelCount(level=level, count=counts[level], share=round(100 * counts[level] / len(scored)))
        for level in reversed(LEVELS)
        if scored and (level in offered or counts[level])
    )


def bug_counts(submissions: Sequence[SubmissionResult]) -> list[tuple[str, int]]:
    """Return the titles of the bugs that were seen, most frequent first."""
    seen = Counter(
        title for one in submissions for title in dict.fromkeys(bug.title for bug in bugs_of(one))
    )
    return seen.most_common()


def check_statistics(ranked: Sequence[SubmissionResult]) -> tuple[CheckStatistics, ...]:
    """Return how each check went, those that separate people first.

    ``ranked`` is best first: the separation of a check is its pass rate among the best 27 % minus
    that among the last 27 % of those that were scored.
    """
    scored = [one for one in ranked if one.earned is not None and one.checks]
    places = columns(scored)
    titles = {check.id: check.title for one in scored for check in one.checks}
    strips = [strip_letters(one, places) for one in scored]
    size = max(1, round(GROUP * len(scored)))
    statistics = [
        CheckStatistics(
            id=name,
            title=titles[name],
            place=place,
            passed=sum(strip[place] == "p" for strip in strips),
            total=sum(strip[place] in "pf" for strip in strips),
            separation=(
                _rate(strips[:size], place) - _rate(strips[-size:], place)
                if len(scored) >= FEWEST
                else None
            ),
        )
        for name, place in places.items()
    ]
    return tuple(sorted(statistics, key=lambda one: (-(one.separation or 0), one.share)))


def _rate(strips: Sequence[str], place: int) -> float:
    """Return the share that passed a check; one that could not run did not pass."""
    applied = [strip[place] for strip in strips if strip[place] != "a"]
    return applied.count("p") / len(applied) if applied else 0.0


def missed_checks(result: SubmissionResult) -> list[CheckResult]:
    """Return the checks that failed by themselves, not those that could not run."""
    return [
        check
        for check in result.checks
        if check.outcome.is_missed and check.outcome is not Outcome.NOT_RUN
    ]
