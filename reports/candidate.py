"""One submission as a page for the candidate: what holds, what does not, and what to try."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import msgspec

from harness.candidate_view import CandidateCall, CandidateCard, CandidateCheck
from harness.results import LEVELS, Level, Outcome
from reports.pages import fitting, pages
from reports.scorecard import CAPS, CARD, Caps, anchors_of, is_spoilt, named, raised_at
from reports.source import Listing, listings
from reports.text import shown
from reports.words import LEVEL_WORDS, VERDICTS, Word


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelSection:
    """The checks of one level."""

    level: Level
    words: tuple[str, str]
    reached: bool
    checks: tuple[CandidateCheck, ...]

    @property
    def passed(self) -> int:
        return sum(check.outcome is Outcome.PASSED for check in self.checks)

    @property
    def total(self) -> int:
        return len(self.checks)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleCall:
    """A call to try, as it can be pasted into Python."""

    title: str
    code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidatePage:
    """What the template of a candidate's card shows."""

    card: CandidateCard
    verdict: Word
    level: tuple[str, str]
    rungs: tuple[LevelSection, ...]
    trials: tuple[ExampleCall, ...]
    listings: tuple[Listing, ...]
    anchors: dict[str, str]  #: id of a check -> anchor of the line that raised
    raised: dict[str, list[str]]  #: anchor of a line -> titles of the checks it failed
    spoilt: bool  #: some check passed and earned nothing
    repaired: frozenset[str] = frozenset()  #: lines that a repair changes: never told to its author


def render_candidate(card: CandidateCard) -> str:
    """Return the page of one submission for its author: HTML of at most 300 KB."""
    return fitting((partial(_render, card, caps) for caps in CAPS), CARD)


def _render(card: CandidateCard, caps: Caps) -> str:
    return pages().render("candidate.html", candidate_page(card, caps=caps))


def candidate_page(card: CandidateCard, *, caps: Caps = CAPS[0]) -> CandidatePage:
    """Lay out one card."""
    bare = msgspec.structs.replace(card, sources=(), calls=())
    safe = shown(bare, field=caps.field, entries=caps.entries)
    files = listings(named(card.sources, caps), budget=caps.source)
    anchors = anchors_of(safe.checks, files)
    return CandidatePage(
        card=safe,
        verdict=VERDICTS[safe.verdict],
        level=LEVEL_WORDS[safe.level],
        rungs=tuple(_rungs(safe)),
        trials=tuple(_trial(one, caps) for one in card.calls[: caps.exhibits]),
        listings=files,
        anchors=anchors,
        raised=raised_at(safe.checks, anchors),
        spoilt=is_spoilt(safe.checks),
    )


def _rungs(card: CandidateCard) -> list[LevelSection]:
    rungs = []
    for level in LEVELS:
        own = tuple(check for check in card.checks if check.level is level)
        if own:
            reached = LEVELS.index(card.level) >= LEVELS.index(level)
            rungs.append(
                LevelSection(level=level, words=LEVEL_WORDS[level], reached=reached, checks=own)
            )
    return rungs


def _trial(call: CandidateCall, caps: Caps) -> ExampleCall:
    return ExampleCall(
        title=shown(call.title, field=caps.field), code=shown(call.code, field=caps.source)
    )
