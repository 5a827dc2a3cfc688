"""What a team asks for besides the spec: parts that must be there, points, a level to reach."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from harness.candidate import level_reached, possible_points
from harness.errors import UsageError
from harness.results import LEVELS, Card, CheckResult, Level, Outcome, Points, Verdict
from harness.spec import Spec

MASK: Final = "mask"  #: stands for the mask of any name


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """Terms of one assignment, as ``takehome.toml`` settles them."""

    require: tuple[str, ...] = ()  #: parts whose absence is a failure, e.g. "mask"
    points: dict[str, Points] = {}  #: check id -> what it is worth here
    level: Level = Level.PASS  #: what is to be reached for the verdict passed


def expect_usable(terms: Terms, spec: Spec) -> None:
    """Require that what the terms name exists.

    Raises:
        UsageError: a part or a check is unknown, or no check has the level.
    """
    known = sorted({check.id for check in spec.checks})
    for name in sorted(set(terms.points) - set(known)):
        raise UsageError(f"points has {name}, expected a check of {spec.name}: {', '.join(known)}")
    parts = sorted(_parts(spec))
    for name in terms.require:
        if name not in parts:
            raise UsageError(f"require has {name!r}, expected some of {', '.join(parts)}")
    levels = [level for level in LEVELS if any(check.level == level for check in spec.checks)]
    if terms.level not in levels:
        raise UsageError(
            f"level is {terms.level}, expected one that {spec.name} has: {', '.join(levels)}"
        )


def _parts(spec: Spec) -> Iterator[str]:
    """Yield the names of what a submission may lack."""
    for point in spec.entry_points:
        yield point.name
        yield from point.parameters
    if any(MASK in name for point in spec.entry_points for name in point.parameters):
        yield MASK


def settle(card: Card, terms: Terms) -> Card:
    """Return a graded card under the terms of a team; one that was not scored stays as it is."""
    result = card.result
    if result.verdict not in (Verdict.PASSED, Verdict.FAILED) or terms == Terms():
        return card
    lacking = sorted({name for check in result.checks if (name := _required(check, terms))})
    checks = tuple(_settled(check, terms) for check in result.checks)
    reached = level_reached(checks)
    reason = ""
    if lacking:
        reason = f"it has no {', no '.join(lacking)}, which is required here"
    elif result.verdict is Verdict.PASSED and _rank(reached) < _rank(terms.level):
        reason = f"it reaches level {reached}, and level {terms.level} is asked for here"
    settled = msgspec.structs.replace(
        result,
        checks=checks,
        verdict=Verdict.FAILED if reason else result.verdict,
        reason=reason or result.reason,
        level=reached,
        earned=sum(check.earned for check in checks),
        possible=possible_points(checks),
    )
    return msgspec.structs.replace(card, result=settled)


def _rank(level: Level) -> int:
    return -1 if level is Level.NONE else LEVELS.index(level)


def _required(check: CheckResult, terms: Terms) -> str:
    """Return which required part a check would have needed and did not find, or ""."""
    if check.outcome is not Outcome.NOT_APPLICABLE:
        return ""
    absent = check.message.rpartition(" ")[2]
    return next(
        (name for name in terms.require if absent == name or (name == MASK and MASK in absent)), ""
    )


def _settled(check: CheckResult, terms: Terms) -> CheckResult:
    """Return a check with its points here, failed where what it needs is required."""
    worth = terms.points.get(check.id, check.points)
    if worth != check.points:
        share = check.earned / check.points if check.points else check.outcome is Outcome.PASSED
        earned = round(2 * worth * share) / 2  # points are multiples of a half
        check = msgspec.structs.replace(check, points=worth, earned=earned)
    if not _required(check, terms):
        return check
    message = f"{check.message}, which is required here"
    return msgspec.structs.replace(check, outcome=Outcome.FAILED, earned=0, message=message)
