"""One check in words: what it asks, why, where it counts, which mistakes it catches."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from harness.errors import UsageError
from harness.spec import Spec


def explanation(check_id: str, specs: Sequence[Spec]) -> str:
    """Explain a check over all the specs that have it.

    Raises:
        UsageError: no spec has it; the message lists those there are.
    """
    found = [(spec, check) for spec in specs for check in spec.checks if check.id == check_id]
    if not found:
        known = sorted({check.id for spec in specs for check in spec.checks})
        raise UsageError(f"check is {check_id!r}, expected one of {', '.join(known)}")
    criterion = found[0][1].criterion
    lines = [criterion.title]
    if criterion.why:
        lines += ["", *textwrap.wrap(criterion.why, 90)]
    lines += ["", *textwrap.wrap(f"Remedy: {criterion.hint}", 90), ""]
    lines += [f"{spec.name}: level {check.level}, {check.points} points" for spec, check in found]
    titles = {flaw.title for spec, _ in found for flaw in spec.flaws if check_id in flaw.caught_by}
    if titles:
        lines += ["", "Fails for", *(f"- {title}" for title in sorted(titles))]
    return "\n".join(lines)
