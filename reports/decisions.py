"""What people have decided about a submission, as pages say it."""

from __future__ import annotations

from collections.abc import Iterable

from harness.reviews import Decision


def standing(decisions: Iterable[Decision]) -> Decision | None:
    """Return the decision that holds: the last that anybody has written."""
    last = None
    for decision in decisions:
        last = decision
    return last
