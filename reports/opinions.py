"""What people wrote about the submissions of a batch, as pages show it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from harness.reviews import Decision, Note


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinions:
    """Decisions and notes by submission, each list in the order they were written."""

    decisions: dict[str, tuple[Decision, ...]] = field(default_factory=dict)
    notes: dict[str, tuple[Note, ...]] = field(default_factory=dict)

    def decisions_on(self, submission: str) -> tuple[Decision, ...]:
        """Return the decisions on one submission."""
        return self.decisions.get(submission, ())

    def notes_on(self, submission: str) -> tuple[Note, ...]:
        """Return the notes on one submission."""
        return self.notes.get(submission, ())

    def standing(self, submission: str) -> Decision | None:
        """Return the decision that holds: the last that anybody has written."""
        return standing(self.decisions_on(submission))


def standing(decisions: Iterable[Decision]) -> Decision | None:
    """Return the last of some decisions."""
    last = None
    for decision in decisions:
        last = decision
    return last
