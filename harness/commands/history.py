"""How the results of a folder's submissions moved."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

from rich.text import Text

from harness.commands import console
from harness.grading import LedgerReader


def history(folder: Path) -> Iterator[Text]:
    """Yield the submissions by name, each with its results, the oldest first.

    Raises:
        UsageError: the folder has no ledger.
    """
    with LedgerReader(folder) as ledger:
        for name, past in itertools.groupby(ledger.history(), key=lambda one: one.result.id):
            yield Text(name, style="bold")
            for one in past:
                time = one.time or "at a time that was not kept"
                yield Text(f"  {time}  {one.result.sha256[:8] or 'not read'}  ").append(
                    console.line(one.result)
                )
