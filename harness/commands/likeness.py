"""Finds the submissions of a batch that a person should look at together, card by card."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator

import specs
from harness.errors import TakehomeError
from harness.results import Card
from harness.similarity import LookAlike, fingerprint, look_alikes


class Likeness:
    """What is kept of each submission to compare it with the others: hashes, and no text."""

    def __init__(self) -> None:
        self._prints: dict[str, frozenset[int]] = {}
        self._digests: dict[str, str] = {}
        self._specs: set[str] = set()

    def add(self, card: Card) -> None:
        """Take a submission in; one that is not code is passed over."""
        if card.sources and not card.questions:
            text = "\n".join(source.text for source in card.sources)
            self._prints[card.result.id] = fingerprint(text)
            self._digests[card.result.id] = card.result.sha256
            self._specs.add(card.spec)

    def pairs(self) -> list[LookAlike]:
        """Return the pairs to look at."""
        return look_alikes(self._prints, self._digests, _given(sorted(self._specs)))


def look_alikes_of(cards: Iterable[Card]) -> list[LookAlike]:
    """Return the pairs among some cards."""
    likeness = Likeness()
    for card in cards:
        likeness.add(card)
    return likeness.pairs()


def _given(names: Iterable[str]) -> Iterator[str]:
    """Yield what everybody had: the starter and the brief, where the spec is still there."""
    for name in names:
        with contextlib.suppress(TakehomeError):
            spec = specs.load(name)
            yield spec.starter
            yield spec.brief
