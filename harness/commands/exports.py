"""Writes the results of a folder in the formats of other systems, to ``exports/``."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Callable, Sequence
from pathlib import Path

import reports
from harness.candidate_view import for_candidate
from harness.commands.anonymity import read_names
from harness.commands.output_folder import named_problems
from harness.commands.review import standing
from harness.errors import SandboxBroken, UnknownName, UsageError
from harness.marking import fold
from harness.roster import people_by_submission, read_roster

Say = Callable[[str], None]


def expect_formats(names: Sequence[str]) -> None:
    """Check the names of formats.

    Raises:
        UnknownName: there is no such format; the message lists those there are.
    """
    for name in names:
        if name not in reports.FORMATS:
            raise UnknownName("--format", name, reports.FORMATS)


def write_exports(folder: Path, names: Sequence[str], roster: Path | None, say: Say) -> None:
    """Write a folder's results in each format.

    Raises:
        UsageError: the folder holds no results, or the roster cannot be read.
        SandboxBroken: the disk does not take it.
    """
    expect_formats(names)
    with named_problems(UsageError):
        results = reports.load(folder)
    people = read_roster(roster) if roster else []
    owned = read_names(folder)  # where it was graded under aliases
    aliases = {owned.get(one.id, one.id): one.id for one in results.submissions}
    found = people_by_submission(people, aliases)
    owners = {aliases[identifier]: person for identifier, person in found.items()}
    for person in people:
        if person not in owners.values():
            say(f"roster: {person.name} has no submission")
    for name in dict.fromkeys(names):
        cards = reports.load_cards(results, folder)
        with named_problems(SandboxBroken):
            for file, content in reports.export(name, results, cards, owners):
                reports.save(folder / "exports" / file, content, mode=0o600)
        say(f"{name}: {folder / 'exports'}")
    unscored = [one.id for one in results.submissions if one.earned is None]
    if unscored:
        say(f"not scored, so in no gradebook: {', '.join(unscored)}")


def hand_out(folder: Path, out: Path, say: Say) -> None:
    """Write a page for each candidate to another folder: names nobody can guess, and no index.

    Which page is whose stands in ``handed-out.csv`` of the batch's own folder. The names follow
    from the batch's secret, so that they are the same each time.

    Raises:
        UsageError: the folder holds no results.
        SandboxBroken: the disk does not take it.
    """
    with named_problems(UsageError):
        results = reports.load(folder)
    marked = standing(folder)
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(["id", "page"])
    for card in reports.load_cards(results, folder):
        name = _page_name(results.seed, card.result.id)
        page = reports.render_candidate(for_candidate(fold(card, marked.get(card.result.id))))
        with named_problems(SandboxBroken):
            reports.save(out / name, page.encode())
        writer.writerow([reports.formula_safe(card.result.id), name])
    with named_problems(SandboxBroken):
        reports.save(folder / "handed-out.csv", buffer.getvalue().encode(), mode=0o600)
    say(f"pages to send: {out}; whose each is: {folder / 'handed-out.csv'}")


def _page_name(seed: str, submission: str) -> str:
    """Return a name of 128 bits that only the batch's secret leads to."""
    key = hashlib.blake2b(seed.encode(), person=b"handed out").digest()
    text = submission.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, key=key, digest_size=16).hexdigest() + ".html"
