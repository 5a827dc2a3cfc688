"""What people wrote about the submissions of a folder, read from its ledger for the pages."""

from __future__ import annotations

import collections
from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

from harness.grading import LEDGER, Reviews
from harness.reviews import Decision, Note
from reports import Opinions

_Entry = TypeVar("_Entry", Decision, Note)


def read_opinions(folder: Path) -> Opinions:
    """Return the decisions and notes of a folder; none where it has no ledger.

    Raises:
        UsageError: the ledger cannot be used.
    """
    if not (folder / LEDGER).exists():
        return Opinions()
    with Reviews(folder) as reviews:
        return opinions_of(reviews)


def opinions_of(reviews: Reviews) -> Opinions:
    """Return all decisions and notes, by submission."""
    return Opinions(
        decisions=_by_submission(reviews.decisions()), notes=_by_submission(reviews.notes())
    )


def _by_submission(entries: Iterable[_Entry]) -> dict[str, tuple[_Entry, ...]]:
    found = collections.defaultdict[str, list[_Entry]](list)
    for entry in entries:
        found[entry.submission].append(entry)
    return {submission: tuple(own) for submission, own in found.items()}
