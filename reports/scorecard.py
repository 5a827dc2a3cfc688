"""One submission as a page: who, how far, which bug, why, and what to ask next."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath
from typing import Final, NamedTuple

import msgspec

from harness.candidate_view import CandidateCheck
from harness.results import (
    LEVELS,
    Bug,
    Card,
    CardSource,
    CheckResult,
    Evidence,
    FollowUp,
    Heat,
    Level,
    Outcome,
    Picture,
    Points,
    SubmissionResult,
    shared_message,
)
from harness.reviews import Decision, Note
from reports.arrays import Exhibit, exhibit
from reports.opinions import standing
from reports.pages import fitting, pages
from reports.repair import Change, change_of
from reports.sentence import RanCode, highest_level, ran_code, sentence
from reports.source import Listing, anchor_of, listings
from reports.stages import Strip, strip
from reports.text import shown
from reports.words import LEVEL_WORDS, VERDICTS, Word, bugs_of, failing

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


#: A map of at most so many cells is read at a glance, also when all are wrong.
_FEW_CELLS: Final = 16


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
    sentence: str  #: of the verdict
    is_highest: bool  #: the level reached is the highest of this assignment
    bugs: tuple[Bug, ...]  #: that have a name
    cost: Points  #: points lost by the bugs, where they account for all that fails; else 0
    questions: tuple[FollowUp, ...]  #: to ask next, each once
    change: Change | None  #: of the repair
    repaired: frozenset[str]  #: anchors of the lines that the repair changes
    missed: tuple[CheckResult, ...]  #: what failed by itself, lowest level first
    idle: tuple[CheckResult, ...]  #: what could not run
    inapplicable: tuple[CheckResult, ...]
    kept: tuple[CheckResult, ...]  #: what passed
    decision: Decision | None
    remarks: tuple[Note, ...]  #: of reviewers
    graded: str  #: when, in ISO 8601; "" when it is not known
    form: str  #: what its form proves itself by; "" on a page that is not served
    slug: str  #: what its address is called, where it is served
    others: tuple[tuple[str, str], ...]  #: slug and id of what it can be compared with
    ran: dict[str, RanCode]  #: what became of the code in answers, by the question
    strip: Strip | None
    rungs: tuple[LevelSection, ...]
    exhibits: tuple[Exhibit, ...]
    listings: tuple[Listing, ...]
    anchors: dict[str, str]  #: id of a check -> anchor of the line that raised
    raised: dict[str, list[str]]  #: anchor of a line -> titles of the checks it failed
    spoilt: bool  #: some check passed and earned nothing
    hidden: int  #: checks left out


#: Where the links to the pages before and after stand; no text can spell it, since "<" is escaped.
_NEIGHBOURS: Final = re.compile("<!--neighbours-->.*?<!--/neighbours-->", re.DOTALL)


def with_neighbours(page: str, before: str, after: str) -> str:
    """Return a card's page with links to the pages before and after it; "" is none."""
    links = pages().render("parts/neighbours.html", {"before": before, "after": after})
    return _NEIGHBOURS.sub(lambda found: links, page, count=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What stands around a card: the batch's page, and what people wrote about it."""

    index: str = ""  #: address of the batch's page, for a link back
    graded: str = ""  #: when, in ISO 8601
    form: str = ""  #: what a form of a served page proves itself by; "" for no form
    others: tuple[tuple[str, str], ...] = ()  #: slug and id of the others of a served batch
    decisions: tuple[Decision, ...] = ()
    notes: tuple[Note, ...] = ()


def render_card(card: Card, context: Context | None = None) -> str:
    """Return the page of one submission: self-contained HTML of at most 300 KB."""
    around = context or Context()
    return fitting((partial(_render, card, around, caps) for caps in CAPS), CARD)


def _render(card: Card, context: Context, caps: Caps) -> str:
    return pages().render("card.html", card_page(card, context, caps=caps))


def card_page(card: Card, context: Context | None = None, *, caps: Caps = CAPS[0]) -> CardPage:
    """Lay out one card."""
    bare = msgspec.structs.replace(card, sources=(), evidence=_exhibited(card.evidence, caps))
    safe = shown(bare, field=caps.field, entries=caps.entries)
    checks = {check.id: check for check in safe.result.checks}
    files = listings(named(card.sources, caps), budget=caps.source)
    missed = failing(safe.result.checks)
    kept = checks.keys() - {check.id for check in missed}
    anchors = anchors_of(missed, files)
    context = context or Context()
    change = change_of(safe.repair) if safe.repair else None
    by_outcome = partial(_with_outcome, safe.result.checks)
    return CardPage(
        card=safe,
        result=safe.result,
        verdict=VERDICTS[safe.result.verdict],
        level=LEVEL_WORDS[safe.result.level],
        index=context.index,
        sentence=sentence(safe, change),
        is_highest=highest_level(safe.result),
        bugs=bugs_of(safe.result),
        cost=_cost(safe.result),
        questions=_questions(safe.result, missed),
        change=change,
        repaired=_repaired(change, files),
        missed=tuple(check for check in missed if check.outcome is not Outcome.NOT_RUN),
        idle=by_outcome(Outcome.NOT_RUN),
        inapplicable=by_outcome(Outcome.NOT_APPLICABLE),
        kept=by_outcome(Outcome.PASSED),
        decision=shown(standing(context.decisions), field=caps.field),
        remarks=shown(context.notes, field=caps.field, entries=caps.entries),
        graded=context.graded,
        form=context.form,
        slug=PurePosixPath(safe.result.card).stem,
        others=tuple((slug, shown(name, field=caps.field)) for slug, name in context.others),
        first=missed[0] if missed else None,
        shared=shared_message((c.outcome, c.message) for c in missed),
        ran={one.id: ran for one in safe.questions if (ran := ran_code(one))},
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


def _with_outcome(checks: tuple[CheckResult, ...], outcome: Outcome) -> tuple[CheckResult, ...]:
    return tuple(check for check in checks if check.outcome is outcome)


def _questions(result: SubmissionResult, missed: tuple[CheckResult, ...]) -> tuple[FollowUp, ...]:
    """Return what to ask, each once: of the bugs, of the first check that failed, or further on."""
    asked = [question for bug in result.diagnosis for question in bug.questions]
    if not asked and not result.cause and missed and missed[0].question:
        asked = [FollowUp(question=missed[0].question, answer=missed[0].answer)]
    return tuple({each.question: each for each in asked or result.next_questions}.values())


def _cost(result: SubmissionResult) -> Points:
    """Return the points that bugs have cost which account for all that fails, or 0."""
    explained = result.diagnosis and all(found.complete for found in result.diagnosis)
    if not explained or result.earned is None:
        return 0
    return sum(check.points for check in result.checks if check.outcome.is_missed)


def _repaired(change: Change | None, files: tuple[Listing, ...]) -> frozenset[str]:
    """Return the anchors of the lines that a repair changes."""
    if change is None:
        return frozenset()
    anchors = (anchor_of(change.file, line, files) for line in change.places)
    return frozenset(anchor for anchor in anchors if anchor)


def _exhibited(evidence: tuple[Evidence, ...], caps: Caps) -> tuple[Evidence, ...]:
    """Return the evidence that is shown; pictures cannot be clipped, so they go first."""
    kept = _telling(evidence)[: caps.exhibits]
    if caps is CAPS[0]:
        return kept
    return tuple(msgspec.structs.replace(one, pictures=()) for one in kept)


def _telling(evidence: tuple[Evidence, ...]) -> tuple[Evidence, ...]:
    """Return the evidence without maps that are wrong in every cell, where others tell more."""
    pictures = [picture for one in evidence for picture in one.pictures]
    if all(_is_all_wrong(picture) for picture in pictures):
        return evidence
    return tuple(
        msgspec.structs.replace(
            one, pictures=tuple(each for each in one.pictures if not _is_all_wrong(each))
        )
        for one in evidence
    )


def _is_all_wrong(picture: Picture) -> bool:
    """Tell whether a map marks everything, and is large: then it says no more than its heading."""
    if not isinstance(picture, Heat):
        return False
    marks = [mark for row in picture.wrong for mark in row]
    return len(marks) > _FEW_CELLS and all(marks)


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
