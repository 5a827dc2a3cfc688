"""Two submissions side by side."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from harness.results import Card
from reports.pages import pages
from reports.scorecard import CAPS, named
from reports.source import Listing, listings
from reports.text import shown
from reports.words import OUTCOMES, Word, happening

_ABSENT = Word("not asked", "–", "calm")


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonPage:
    """What the template of a comparison shows."""

    names: tuple[str, str]
    happenings: tuple[str, str]
    checks: tuple[tuple[str, tuple[Word, Word]], ...]  #: title, and both outcomes
    differing: int
    sources: tuple[tuple[Listing, ...], tuple[Listing, ...]]


def render_comparison(left: Card, right: Card) -> str:
    """Return a page of two submissions: what happened, check by check, and both sources."""
    caps = CAPS[0]
    bare = [
        shown(msgspec.structs.replace(card.result, notes=()), field=caps.field)
        for card in (left, right)
    ]
    titles = {check.id: check.title for result in bare for check in result.checks}
    words = [{check.id: OUTCOMES[check.outcome] for check in result.checks} for result in bare]
    checks = tuple(
        (title, (words[0].get(name, _ABSENT), words[1].get(name, _ABSENT)))
        for name, title in titles.items()
    )
    files = [listings(named(card.sources, caps), budget=caps.source) for card in (left, right)]
    page = ComparisonPage(
        names=(bare[0].id, bare[1].id),
        happenings=(happening(bare[0]), happening(bare[1])),
        checks=checks,
        differing=sum(one != other for _, (one, other) in checks),
        sources=(files[0], files[1]),
    )
    return pages().render("compare.html", page)
