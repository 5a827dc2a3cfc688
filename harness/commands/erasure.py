"""What is due to be erased, and erasing what is kept of one person."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path

import msgspec

import reports
from harness.commands.anonymity import forget_alias
from harness.commands.output_folder import named_problems
from harness.errors import SandboxBroken, UsageError
from harness.grading import Ledger, LedgerReader
from harness.results import BatchResults
from harness.settings import FILE, find_settings, read_settings

Say = Callable[[str], None]


def forget(folder: Path, submission: str, say: Say) -> None:
    """Erase a submission: source, card, results, ledger rows, history, decisions, exports.

    The other submissions' reports are written again without it.

    Raises:
        UsageError: nothing of it is in the folder, or a run holds that.
        SandboxBroken: the disk does not take it, or the ledger is open elsewhere.
    """
    with named_problems(UsageError):
        results = reports.load(folder)
    of_it = [one for one in results.submissions if one.id == submission]
    with Ledger(folder) as ledger:
        pages = set(ledger.erase(submission)) | {one.card for one in of_it}
        if not of_it and not pages:
            raise UsageError(f"{folder} holds no submission {submission!r}")
        with named_problems(SandboxBroken):
            for page in sorted(pages):
                reports.remove_card(page, folder)
            _remove_derived(folder, submission)
            forget_alias(folder, submission)
            reports.write(_without(results, submission), (), folder)
    say(
        f"forgotten: {submission}; files elsewhere (sent cards, copies, backups) are yours to erase"
    )


def _without(results: BatchResults, submission: str) -> BatchResults:
    others = tuple(one for one in results.submissions if one.id != submission)
    ignored = tuple(note for note in results.ignored if submission not in note)
    return msgspec.structs.replace(results, submissions=others, ignored=ignored)


def _remove_derived(folder: Path, submission: str) -> None:
    """Remove files that are made from results, and proposals for that submission."""
    try:
        for path in (folder / "exports").glob("*"):
            path.unlink()  # of the whole batch; `takehome report --format` makes them again
        for path in (folder / "interfaces").glob("*"):
            if path.stem == submission:
                path.unlink()
    except OSError as error:
        raise SandboxBroken(f"{error.filename} cannot be removed ({error.strerror})") from error


def retention_days(folder: Path) -> int:
    """Return how long submissions are kept, as the ``takehome.toml`` of the folder says.

    Raises:
        UsageError: it does not say, or cannot be read.
    """
    days = read_settings(find_settings(folder)).retention_days
    if days is None:
        raise UsageError(
            f"no {FILE} of {folder} has retention_days, expected a number of days; set it, or give "
            "--older-than DAYS, or an id to forget"
        )
    return days


def say_what_is_due(folder: Path, days: int, now: datetime.datetime, say: Say) -> int:
    """List the submissions whose card is older than ``days``; return how many there are."""
    limit = (now - datetime.timedelta(days=days)).isoformat(timespec="seconds")
    with LedgerReader(folder) as ledger:
        due = ledger.graded_before(limit)
    for submission, made in due:
        say(f"due: {submission}, graded {made or 'at a time that was not kept'}")
    if due:
        say(f"erase one with `takehome forget {folder} ID`")
    return len(due)
