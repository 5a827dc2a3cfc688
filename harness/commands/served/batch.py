"""The folder behind the served pages: its results as of now, and what is entered."""

from __future__ import annotations

import datetime
import functools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

import reports
from harness.commands.likeness import look_alikes_of
from harness.commands.opinions import opinions_of
from harness.commands.review import standing_in
from harness.errors import UsageError
from harness.grading import Reviews
from harness.language import ENGLISH, Language
from harness.marking import Sheet, fold, sheets
from harness.results import BatchResults, Card, Verdict
from harness.reviews import Entry
from harness.similarity import LookAlike


class ServedBatch:
    """One folder of results, and its ledger."""

    def __init__(
        self,
        folder: Path,
        reviewer: str,
        now: Callable[[], datetime.datetime],
        language: Language = ENGLISH,
    ) -> None:
        """Open the folder.

        Raises:
            UsageError: it holds no results, or its ledger cannot be used.
        """
        self.folder = folder
        self.reviewer = reviewer
        self.language = language  #: of the pages
        self._now = now
        self.reviews = Reviews(folder)
        self.results()

    def results(self) -> BatchResults:
        """Return the results of the batch.

        Raises:
            UsageError: they cannot be read.
        """
        try:
            return reports.load(self.folder)
        except reports.Unreadable as error:
            raise UsageError(str(error)) from None

    def marked_results(self) -> BatchResults:
        """Return the results with what was marked so far.

        Raises:
            UsageError: they cannot be read.
        """
        results = self.results()
        if all(one.verdict is not Verdict.AWAITING_REVIEW for one in results.submissions):
            return results  # nothing that a person has to read
        marked = {card.result.id: card.result for card in self.cards()}
        submissions = tuple(marked.get(one.id, one) for one in results.submissions)
        return msgspec.structs.replace(results, submissions=submissions)

    def time(self) -> str:
        """Return the present moment for an entry."""
        return self._now().isoformat(timespec="microseconds")

    @functools.cached_property
    def look_alikes(self) -> list[LookAlike]:
        """The pairs to look at, found once."""
        return look_alikes_of(reports.load_cards(self.results(), self.folder))

    def opinions(self) -> reports.Opinions:
        """Return what people wrote so far."""
        return opinions_of(self.reviews)

    def append(self, entries: Sequence[Entry]) -> None:
        """Write entries, all or none."""
        self.reviews.append(entries)

    def card(self, slug: str) -> Card | None:
        """Return the card of a page of this batch, with its marks; None for any other name."""
        link = f"cards/{slug}.html"
        results = self.results()
        own = [one for one in results.submissions if one.card == link]
        loaded = reports.load_cards(results_of(results, own), self.folder)
        card = next(iter(loaded), None)
        return self._marked(card) if card else None

    def code_card(self, slug: str) -> Card | None:
        """Return the card of code in a form's answer, by its page; None for any other name."""
        link = f"cards/{slug}.html"
        for card in reports.load_cards(self.results(), self.folder):
            for question in card.questions:
                if question.code is not None and question.code.result.card == link:
                    return question.code
        return None

    def cards(self) -> Iterator[Card]:
        """Yield all cards, with their marks."""
        marked = standing_in(self.folder, self.reviews)
        for card in reports.load_cards(self.results(), self.folder):
            yield fold(card, marked.get(card.result.id))

    def sheets(self) -> tuple[Sheet, ...]:
        """Return a sheet per question that a person marks."""
        return sheets(self.cards(), self.results().seed)

    def _marked(self, card: Card) -> Card:
        return fold(card, standing_in(self.folder, self.reviews).get(card.result.id))


def results_of(results: BatchResults, submissions: Sequence[object]) -> BatchResults:
    """Return the results with some of the submissions only."""
    kept = tuple(one for one in results.submissions if one in submissions)
    return BatchResults(
        specs=results.specs,
        title=results.title,
        seed=results.seed,
        environment=results.environment,
        submissions=kept,
    )
