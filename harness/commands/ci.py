"""``takehome ci``: grades what a change to a repository of submissions brings.

What is in ``public/`` may be read by anybody who can read the change; ``private/`` holds the
interviewers' results, with the seed. Settings are those of the base. Candidates' text reaches a
runner's log only where it can be no command.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec

import harness
import reports
import specs
from harness.candidate_view import for_candidate
from harness.commands.batch_run import Repairs
from harness.commands.grade import Request, grade_batch
from harness.commands.output_folder import named_problems
from harness.commands.repository import Repository, entries
from harness.commands.team_settings import terms_of
from harness.errors import SandboxBroken, UsageError
from harness.intake import collect
from harness.results import SubmissionResult
from harness.settings import FILE, Assignment, Settings

Say = Callable[[str], None]

#: Our packages: none may come from the repository that is graded.
_OURS: Final = (harness, specs, reports)


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """What ``takehome ci`` was asked for."""

    folder: Path
    base: str | None
    spec: str | None
    out: Path
    sandbox: str
    on_github: bool  #: its runner obeys lines that look like commands


def grade_change(job: Job, write: Say, say: Say) -> Sequence[SubmissionResult]:
    """Grade what changed and write both folders; ``write`` prints to the runner's log.

    Raises:
        UsageError: no repository, no settings, or settings that cannot be followed.
        SandboxBroken: as for `grade_batch`.
    """
    repository = Repository(job.folder, job.base)
    refuse_own_modules(repository.root)
    settings, changed = repository.settings(), repository.changed()
    out = job.out.resolve()
    results: list[SubmissionResult] = []
    placed: list[reports.PlacedCard] = []
    with _elsewhere(out, repository.root):
        for assignment in _assignments(settings, job.spec):
            folder = (repository.root / assignment.path).resolve()
            if not folder.is_relative_to(repository.root):
                raise UsageError(f"path of {FILE} is {assignment.path}, expected one inside it")
            spec = specs.load(str(assignment.spec))
            paths = [
                path
                for path in entries(folder, repository.root, changed)
                if path != out and _is_submission(path, spec.is_written)
            ]
            if not paths:
                continue
            private = out / "private" / _folder_name(assignment)
            with _commands_stopped(write if job.on_github else None):
                results += grade_batch(_request(job, assignment, paths, private), say)
            placed += _placed(paths, private, repository.root, out / "public")
        with named_problems(SandboxBroken):
            reports.write_placed(placed, out / "public")
    if job.on_github and placed:
        write((out / "public" / "annotations.txt").read_text(encoding="utf-8").rstrip("\n"))
    say(f"for everybody: {out / 'public'}; for interviewers only: {out / 'private'}")
    return results


def refuse_own_modules(root: Path) -> None:
    """Make sure that what grades is not what is graded.

    Raises:
        UsageError: a module of ours came from the repository.
    """
    for module in _OURS:
        file = Path(str(module.__file__)).resolve()
        if _is_of(file, root):
            raise UsageError(
                f"{module.__name__} was imported from the repository that is graded; "
                "run the installed `takehome`, or `python -P -m harness.cli`"
            )


def _assignments(settings: Settings, spec: str | None) -> Iterator[Assignment]:
    """Yield the assignments that the base has settled, or the one that was asked for."""
    found = [one for one in settings.assignments if one.spec] or (
        [settings.everywhere] if settings.everywhere.spec else []
    )
    if spec is not None:
        found = [msgspec.structs.replace(settings.everywhere, spec=spec)]
    if not found:
        raise UsageError(
            f"no assignment is settled; write spec or [[assignment]] into {FILE} of the base, "
            "or give --spec"
        )
    for assignment in found:
        if assignment.specs or re.search(r"[/\\]|\.py$", str(assignment.spec)):
            raise UsageError(
                f"{FILE} names a spec in the repository, of which ci imports nothing; install it "
                "as a package with the entry point group takehome.specs"
            )
    yield from found


def _folder_name(assignment: Assignment) -> str:
    place = re.sub(r"[^A-Za-z0-9]+", "-", f"{assignment.spec}-{assignment.path}")
    return place.strip("-")


def _is_submission(path: Path, texts: bool) -> bool:
    try:
        return bool(collect([path], single=True, texts=texts).deliveries)
    except UsageError:
        return False


def _request(job: Job, assignment: Assignment, paths: Sequence[Path], private: Path) -> Request:
    return Request(
        paths=tuple(paths),
        spec=str(assignment.spec),
        out=private,
        jobs=None,
        sandbox=job.sandbox,
        reuse=False,
        runtime=None,
        seed=None,
        fresh=True,
        single=True,
        adapt=assignment.conventions == "adapt",
        for_candidates=False,
        repairs=Repairs.NONE,
        public_log=True,
        terms=terms_of(assignment),
        limits=assignment.limits,
    )


def _placed(
    paths: Sequence[Path], private: Path, root: Path, public: Path
) -> Iterator[reports.PlacedCard]:
    """Yield what a candidate may know of each submission, and write its page."""
    results = reports.load(private)
    names = {delivery.id: delivery.path for delivery in collect(paths, single=True).deliveries}
    for card in reports.load_cards(results, private):
        path = names[card.result.id]
        reports.write_candidate(card, public)
        yield reports.PlacedCard(
            card=for_candidate(card),
            path=path.relative_to(root).as_posix(),
            is_folder=path.is_dir(),
        )


@contextlib.contextmanager
def _elsewhere(out: Path, root: Path) -> Iterator[None]:
    """Work where there is nothing to import, and so do the processes that are started."""
    before, path, empty = Path.cwd(), sys.path[:], out / "private"
    try:
        empty.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{empty} cannot be made ({error.strerror}); choose another") from None
    os.environ["PYTHONSAFEPATH"] = "1"
    sys.path[:] = [entry for entry in path if not _is_of(Path(entry or ".").resolve(), root)]
    os.chdir(empty)
    try:
        yield
    finally:
        os.chdir(before)
        sys.path[:] = path


def _is_of(path: Path, root: Path) -> bool:
    """Tell whether a path is the repository's, and not of an environment made inside it."""
    return path.is_relative_to(root) and not path.is_relative_to(Path(sys.prefix).resolve())


@contextlib.contextmanager
def _commands_stopped(write: Say | None) -> Iterator[None]:
    """Let a GitHub runner take no line of the log for a command."""
    if write is None:
        yield
        return
    word = secrets.token_hex(16)
    write(f"::stop-commands::{word}")
    try:
        yield
    finally:
        write(f"::{word}::")
