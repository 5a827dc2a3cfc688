"""What was handed in: the submissions among the paths of a command line."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import hashlib
import itertools
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from harness.errors import Refused, UsageError
from harness.intake.directory import Folder, kind_at
from harness.intake.naming import distinct, identifier, same
from harness.intake.source_tree import is_hidden
from harness.intake.submission import (
    ACCEPTED,
    TEXTS,
    Submission,
    ending_of,
    load,
    load_text,
    name_of,
)
from harness.parsing import Parser
from harness.text import one_line

#: Entries of one batch; a folder with more is not a folder of submissions.
ENTRIES_CAP: Final = 100_000
#: So many files of a submission, and so much of each, are looked through for a word.
_MENTIONING: Final = 200
_MENTIONING_BYTES: Final = 1 << 20


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One submission that is known by name and not yet read."""

    id: str  #: different from every other's in the batch, also when case does not count
    path: Path
    text: bool = False  #: a form of written answers
    asked: tuple[frozenset[str], ...] = ()  #: names by which the file with the answer is chosen
    adapt: bool = False  #: read characters that Python refuses as what was meant

    def mentions(self, word: bytes) -> bool:
        """Tell whether a word may be in its code; nothing is unpacked to find out."""
        if self.path.is_dir():
            files = [path for path in self.path.rglob("*") if path.suffix in (".py", ".ipynb")]
        else:
            files = [self.path]
        for path in itertools.islice(files, _MENTIONING):
            if path.suffix not in (".py", ".ipynb"):
                return True
            with contextlib.suppress(OSError), path.open("rb") as file:
                if word in file.read(_MENTIONING_BYTES):
                    return True
        return False

    def load(self, parser: Parser | None = None) -> Submission:
        """Read and check it, as ``load`` and ``load_text`` do."""
        if self.text:
            return load_text(self.path, id=self.id)
        return load(self.path, parser, id=self.id, asked=self.asked, adapt=self.adapt)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """The submissions to grade, and a note for each entry that is none."""

    deliveries: tuple[Delivery, ...]
    ignored: tuple[str, ...]


def collect(
    paths: Iterable[Path],
    *,
    single: bool = False,
    texts: bool = False,
    asked: tuple[frozenset[str], ...] = (),
    adapt: bool = False,
) -> Batch:
    """Find the submissions in ``paths``, in order; the entries of a folder sorted by name.

    A folder is a batch: each script, notebook, archive or folder in it is a submission. With
    ``single`` every path is one submission, folders too. With ``texts`` submissions are forms of
    written answers, and nothing else. ``asked`` and ``adapt`` are for every delivery.
    Nothing is read, except submissions whose names collide, which are told apart by content.

    Raises:
        UsageError: a path does not exist, cannot be read, or is of no known kind.
    """
    found: list[_Entry] = []
    ignored: list[str] = []
    for path in dict.fromkeys(paths):
        kind = _kind(path)
        if kind == "folder" and not single:
            inside, notes = _inside(path, texts)
            found += inside
            ignored += notes
        elif _is_submission(path, kind, texts):
            found.append(_Entry(path=path, kind=kind, text=texts))
        else:
            raise UsageError(
                f"{path} is {'of no known kind' if kind == 'file' else kind}, "
                f"expected a folder or one of {', '.join(TEXTS if texts else ACCEPTED)}"
            )
    deliveries = (
        dataclasses.replace(delivery, asked=asked, adapt=adapt) for delivery in _identified(found)
    )
    return Batch(deliveries=tuple(deliveries), ignored=tuple(ignored))


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    path: Path
    kind: str
    text: bool

    @property
    def plain_id(self) -> str:
        endings = TEXTS if self.text else ACCEPTED
        ending = "" if self.kind == "folder" else ending_of(self.path, endings)
        return identifier(name_of(self.path), ending)


def _kind(path: Path) -> str:
    try:
        return kind_at(path)
    except Refused as refused:
        raise UsageError(f"{refused}; check the path {one_line(str(path))}") from None


def _is_submission(path: Path, kind: str, texts: bool) -> bool:
    if texts:
        return kind == "file" and bool(ending_of(path, TEXTS))
    return kind == "folder" or bool(ending_of(path))


def _inside(path: Path, texts: bool) -> tuple[list[_Entry], list[str]]:
    """Return the submissions in a folder, and notes on its other entries."""
    try:
        with Folder.open(path) as folder:
            names = folder.names(ENTRIES_CAP)
            kinds = {name: folder.kind(name) for name in names if not is_hidden(name)}
    except Refused as refused:
        raise UsageError(str(refused)) from None
    if len(names) > ENTRIES_CAP:
        raise UsageError(f"{path} has more than {ENTRIES_CAP:,} entries; give a folder of fewer")
    found, ignored = [], []
    wanted = "not a form" if texts else "not a script, notebook, archive or folder"
    for name, kind in kinds.items():
        if _is_submission(path / name, kind, texts):
            found.append(_Entry(path=path / name, kind=kind, text=texts))
        else:
            said = wanted if kind in ("file", "folder") else kind
            ignored.append(f"{one_line(name, 200)} is {said}")
    return found, ignored


def _identified(found: Sequence[_Entry]) -> Iterator[Delivery]:
    """Name each submission; where plain ids collide, by its full name and its content."""
    shared = collections.Counter(same(each.plain_id) for each in found)
    taken = set(shared)
    for each in found:
        chosen = each.plain_id
        if shared[same(chosen)] > 1:
            chosen = _free(distinct(name_of(each.path), _sha256(each)), taken)
        yield Delivery(id=chosen, path=each.path, text=each.text)


def _free(wanted: str, taken: set[str]) -> str:
    """Return the id, numbered when its name and content are those of another submission."""
    numbered = (f"{wanted}-{number}" for number in itertools.count(2))
    free = next(each for each in itertools.chain([wanted], numbered) if same(each) not in taken)
    taken.add(same(free))
    return free


def _sha256(found: _Entry) -> str:
    try:
        return Delivery(id="", path=found.path, text=found.text).load().sha256
    except Refused:
        return hashlib.sha256(os.fsencode(found.path)).hexdigest()
