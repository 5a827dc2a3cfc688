"""One submission as a page: who, how far, which bug, why, and what to ask next."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple

import msgspec

from harness.candidate_view import CandidateCheck
from harness.results import (
    LEVELS,
    Card,
    CardSource,
    CheckResult,
    Evidence,
    Level,
    Outcome,
    Points,
    SubmissionResult,
    shared_message,
)
from reports.arrays import Exhibit, exhibit
from reports.pages import fitting, pages
from reports.source import Listing, anchor_of, listings
from reports.stages import Strip, strip
from reports.text import shown
from reports.words import LEVEL_WORDS, VERDICTS, Word, failing

#: Most bytes of a card.
CARD: Final = 300_000


class Caps(NamedTuple):
    """How much of a card is shown."""

    field: int  #: characters of one text
    entries: int  #: entries of one list
    exhibits: int
    source: int  #: bytes of marked-up source


#: The first suits every honest submission; the last fits whatever was written.
CAPS: Final = (
    Caps(field=4096, entries=200, exhibits=6, source=150_000),
    Caps(field=600, entries=100, exhibits=2, source=60_000),
    Caps(field=60, entries=24, exhibits=1, source=20_000),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelSection:
    """The checks of one level."""

    level: Level
    words: tuple[str, str]
    reached: bool
    checks: tuple[CheckResult, ...]

    @property
    def missed(self) -> list[CheckResult]:
        return [c for c in self.checks if c.outcome.is_missed and c.outcome is not Outcome.NOT_RUN]

    @property
    def idle(self) -> list[CheckResult]:
        return [check for check in self.checks if check.outcome is Outcome.NOT_RUN]

    @property
    def inapplicable(self) -> list[CheckResult]:
        return [check for check in self.checks if check.outcome is Outcome.NOT_APPLICABLE]

    @property
    def kept(self) -> list[CheckResult]:
        return [check for check in self.checks if check.outcome is Outcome.PASSED]

    @property
    def passed(self) -> int:
        return len(self.kept)

    @property
    def total(self) -> int:
        return len(self.checks) - len(self.inapplicable)

    @property
    def earned(self) -> Points:
        return sum(check.earned for check in self.checks)

    @property
    def possible(self) -> Points:
        return sum(c.points for c in self.checks if c.outcome is not Outcome.NOT_APPLICABLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class CardPage:
    """What the template of a card shows; every text in it is visible and clipped."""

    card: Card
    result: SubmissionResult
    verdict: Word
    level: tuple[str, str]
    index: str  #: address of the batch's page, "" when there is none
    first: CheckResult | None  #: the failing check of the lowest level
    shared: str  #: what all failing checks say, "" where they differ
    strip: Strip | None
    rungs: tuple[LevelSection, ...]
    exhibits: tuple[Exhibit, ...]
    listings: tuple[Listing, ...]
    anchors: dict[str, str]  #: id of a check -> anchor of the line that raised
    raised: dict[str, list[str]]  #: anchor of a line -> titles of the checks it failed
    spoilt: bool  #: some check passed and earned nothing
    hidden: int  #: checks left out


def render_card(card: Card, *, index: str = "") -> str:
    """Return the page of one submission: self-contained HTML of at most 300 KB.

    ``index`` is the address of the batch's page, for a link back.
    """
    return fitting((partial(_render, card, index, caps) for caps in CAPS), CARD)


def _render(card: Card, index: str, caps: Caps) -> str:
    return pages().render("card.html", card_page(card, index=index, caps=caps))


def card_page(card: Card, *, index: str = "", caps: Caps = CAPS[0]) -> CardPage:
    """Lay out one card."""
    bare = msgspec.structs.replace(card, sources=(), evidence=_exhibited(card.evidence, caps))
    safe = shown(bare, field=caps.field, entries=caps.entries)
    checks = {check.id: check for check in safe.result.checks}
    files = listings(named(card.sources, caps), budget=caps.source)
    missed = failing(safe.result.checks)
    kept = checks.keys() - {check.id for check in missed}
    anchors = anchors_of(missed, files)
    return CardPage(
        card=safe,
        result=safe.result,
        verdict=VERDICTS[safe.result.verdict],
        level=LEVEL_WORDS[safe.result.level],
        index=index,
        first=missed[0] if missed else None,
        shared=shared_message((c.outcome, c.message) for c in missed),
        strip=strip(safe.result),
        rungs=_rungs(safe.result),
        exhibits=tuple(
            exhibit(one, checks.get(one.check)) for one in safe.evidence if one.check not in kept
        ),
        listings=files,
        anchors=anchors,
        raised=raised_at(missed, anchors),
        spoilt=is_spoilt(safe.result.checks),
        hidden=len(card.result.checks) - len(safe.result.checks),
    )


def _exhibited(evidence: tuple[Evidence, ...], caps: Caps) -> tuple[Evidence, ...]:
    """Return the evidence that is shown; pictures cannot be clipped, so they go first."""
    kept = evidence[: caps.exhibits]
    if caps is CAPS[0]:
        return kept
    return tuple(msgspec.structs.replace(one, pictures=()) for one in kept)


def named(sources: tuple[CardSource, ...], caps: Caps) -> tuple[CardSource, ...]:
    """Return the files with names that are fit to be shown."""
    return tuple(
        msgspec.structs.replace(source, name=shown(source.name, field=caps.field))
        for source in sources[: caps.entries]
    )


def _rungs(result: SubmissionResult) -> tuple[LevelSection, ...]:
    rungs = []
    for level in LEVELS:
        own = tuple(check for check in result.checks if check.level is level)
        if own:
            reached = LEVELS.index(result.level) >= LEVELS.index(level)
            rungs.append(
                LevelSection(level=level, words=LEVEL_WORDS[level], reached=reached, checks=own)
            )
    return tuple(rungs)


def anchors_of(
    checks: Iterable[CheckResult | CandidateCheck], files: tuple[Listing, ...]
) -> dict[str, str]:
    """Return where in the source each check raised, by the check's id."""
    found = {check.id: anchor_of(check.file, check.line, files) for check in checks}
    return {check: anchor for check, anchor in found.items() if anchor}


def is_spoilt(checks: Iterable[CheckResult | CandidateCheck]) -> bool:
    """Tell whether some check passed and earned nothing."""
    return any(check.outcome is Outcome.PASSED and check.earned < check.points for check in checks)


def raised_at(
    checks: Iterable[CheckResult | CandidateCheck], anchors: dict[str, str]
) -> dict[str, list[str]]:
    """Return the titles of the checks that each line failed, by the line's anchor."""
    raised: dict[str, list[str]] = {}
    for check in checks:
        if anchor := anchors.get(check.id):
            raised.setdefault(anchor, []).append(check.title)
    return raised
