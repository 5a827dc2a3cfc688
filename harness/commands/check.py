"""A candidate's own file, checked on their own machine: no engine needed, not isolated."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from harness.errors import UsageError
from harness.grading import Assignment, grade
from harness.intake import collect
from harness.parsing import Parser
from harness.repair import RepairFinder, is_failing
from harness.results import Card, CheckResult
from harness.sandbox import LIMITS, opener
from harness.spec import Spec

POLL_SECONDS = 0.3


def check_file(
    file: Path,
    spec: Spec,
    *,
    repairs: bool = False,
    follow: Callable[[CheckResult], None] = lambda result: None,
    seed: str | None = None,
) -> Card:
    """Run every check of a spec against one file, on inputs drawn afresh unless a seed is given.

    ``repairs`` asks for a repair of what failed; ``follow`` is told of each check as it ends.

    Raises:
        UsageError: there is no such file, or it is of no known kind.
    """
    texts = spec.is_written
    (delivery,) = collect([file], single=True, texts=texts, asked=spec.asked).deliveries
    limits = LIMITS[spec.image]
    with Parser() as parser:
        assignment = Assignment(
            spec=spec,
            seed=seed or secrets.token_hex(8),
            limits=limits,
            parser=parser,
            follow=follow,
        )
        sandbox = opener("process", spec.image)()
        try:
            card = grade(delivery, assignment, sandbox)
            if repairs and is_failing(card.result):
                card = RepairFinder()(card, delivery.load(parser), assignment, sandbox)
            return card
        finally:
            sandbox.close()


def is_starter(file: Path, spec: Spec) -> bool:
    """Tell whether a file is still the starter, whatever its blank lines and line ends."""
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except OSError:  # a folder, or it is just being saved
        return False
    return text.split() == spec.starter.split()


def changes(file: Path, *, sleep: Callable[[float], None] = time.sleep) -> Iterator[None]:
    """Yield at once, and again whenever the file has changed.

    An editor that saves by renaming leaves no file for a moment; that is waited for.

    Raises:
        UsageError: there is no such file to begin with.
    """
    if not file.exists():
        raise UsageError(f"{file} is missing, expected a file with an answer")
    seen = None
    while True:
        if (now := _state(file)) and now != seen:
            seen = now
            yield
        sleep(POLL_SECONDS)


def _state(file: Path) -> tuple[int, int] | None:
    """Return what changes when a file does, or None while there is no file."""
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
