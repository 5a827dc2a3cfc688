"""One submission, from a path to checked bytes: a script, a notebook, a folder or an archive."""

from __future__ import annotations

import dataclasses
import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Final, Literal

from harness import answer_form, results
from harness.errors import Refused
from harness.intake.decoding import decode, decode_python, decode_text, oddities
from harness.intake.directory import kind_at, read_file, require, require_size
from harness.intake.entry_file import choose_entry
from harness.intake.naming import identifier
from harness.intake.source_tree import (
    ENDINGS,
    FILE_CAP,
    HANDED_IN_CAP,
    SourceFile,
    Tree,
    plain_ending,
    read_archive,
    read_folder,
    require_portable,
)
from harness.parsing import Outline, Parser
from harness.text import one_line, sanitise

#: Endings of archives and what is in them.
ARCHIVES: Final = {
    ".zip": "zip",
    ".tar": "tar",
    ".tar.gz": "gz",
    ".tgz": "gz",
    ".tar.bz2": "bz2",
    ".tar.xz": "xz",
}
ACCEPTED: Final = (*ENDINGS, *ARCHIVES)
#: Endings of written answers, which assignments that ask for code do not take.
TEXTS: Final = (".md",)

#: So many characters of source are on a card.
SHOWN_CAP: Final = 512 << 10
#: So many notes on one submission are worth reading.
NOTES_CAP: Final = 20
#: Without any of these a file holds neither a line for IPython nor a character that Python refuses.
_PERHAPS_NOT_PYTHON: Final = re.compile(
    r"[^\x00-\x7f]|^[ \t]*[!%?]|=[ \t]*[!%]|\?[ \t]*$", re.MULTILINE
)
_MARKER: Final = re.compile(r"# %% cell (\d{1,6})")

Origin = Literal["script", "notebook", "text"]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """What a candidate handed in, read once and checked, ready for the sandbox."""

    id: str
    #: Of the file as handed in; of a folder, of its ``sha256sum`` listing sorted by name.
    sha256: str
    origin: Origin
    entry: str  #: the name of the file that holds the answer; a notebook's ends in .py too
    files: tuple[SourceFile, ...]  #: the entry first; Python source (or a form) in UTF-8
    notes: tuple[str, ...]  #: what the reader of the card should know, sanitised

    def place(self, line: int) -> str:
        """Say where a line of the entry is, in words that its author knows."""
        if self.origin == "notebook":
            lines = decode(self.entry, self.files[0].data).split("\n")
            last = min(line, len(lines))  # The sandbox says which line, and may say anything.
            for number in range(last, 0, -1):
                if found := _MARKER.fullmatch(lines[number - 1]):
                    return f"cell {found[1]}, line {last - number}"
        return f"line {line}"

    @property
    def text(self) -> str:
        """The entry, decoded."""
        return decode(self.entry, self.files[0].data)

    def shown(self, parser: Parser) -> tuple[results.CardSource, ...]:
        """Return the files as a card shows them: sanitised, capped, highlighted if that works.

        Written answers are shown question by question instead.
        """
        if self.origin == "text":
            return ()
        room = SHOWN_CAP
        shown = []
        for file in self.files:
            text = sanitise(decode(file.name, file.data), room)
            html = parser.highlight(text) or ""
            shown.append(results.CardSource(name=file.name, text=text, html=html))
            room -= len(text)
        return tuple(shown)


def load(
    path: Path,
    parser: Parser | None = None,
    *,
    id: str | None = None,
    asked: Sequence[frozenset[str]] = (),
    adapt: bool = False,
) -> Submission:
    """Read and check one submission; ``id`` is its name in a batch.

    ``asked`` are names by which the file is chosen that holds the answer, as ``choose_entry``
    takes them. With ``adapt`` characters that Python refuses are replaced, otherwise noted.
    Without a ``parser`` one is started when it is needed, and ended.

    Raises:
        Refused: with the one line that says why.
        SandboxBroken: the parser does not start.
    """
    if parser is None:
        with Parser() as own:
            return load(path, own, id=id, asked=asked, adapt=adapt)
    kind = kind_at(path)
    ending = "" if kind == "folder" else ending_of(path)
    tree, sha256 = _read(path, kind, ending.lower(), parser)
    files = {file.name: file.data for file in tree.files}
    reader = _Reader(files, parser, adapt)
    entry = choose_entry(list(files), reader.outline, asked)
    text, notes = reader.python(entry)
    is_notebook = entry.endswith(".ipynb")
    first = _python_file(_python_name(entry, files) if is_notebook else entry, text)
    siblings = [name for name in files if name.endswith(".py") and name != entry]
    return Submission(
        id=id or identifier(name_of(path), ending),
        sha256=sha256,
        origin="notebook" if is_notebook else "script",
        entry=first.name,
        # The others must be sound, since the entry may import them.
        files=(first, *(_python_file(name, reader.python(name)[0]) for name in siblings)),
        notes=_capped([*_tree_notes(tree, entry), *notes, *oddities(text)]),
    )


def load_text(path: Path, *, id: str | None = None) -> Submission:
    """Read and check one form of written answers.

    Raises:
        Refused: with the one line that says why.
    """
    require(kind_at(path), "file", path.name)
    data = read_file(path, FILE_CAP)
    ending = ending_of(path, TEXTS)
    name = _portable(path.name, f"submission{ending}")
    text, encoding = decode_text(name, data)
    notes = [] if encoding == "utf-8-sig" else [f"read as {encoding}; save it as UTF-8"]
    try:
        answer_form.read(text)
    except Refused as refused:
        raise Refused(f"{one_line(path.name, 200)} is no form: {refused}") from None
    return Submission(
        id=id or identifier(name_of(path), ending),
        sha256=_digest(data),
        origin="text",
        entry=name,
        files=(SourceFile(name=name, data=text.encode(errors="replace")),),
        notes=_capped([*notes, *oddities(text)]),
    )


def ending_of(path: Path, endings: Sequence[str] = ACCEPTED) -> str:
    """Return the accepted ending of a file's name, as it is spelled, or "" for none."""
    found = max((end for end in endings if path.name.lower().endswith(end)), key=len, default="")
    return path.name[len(path.name) - len(found) :]


def name_of(path: Path) -> str:
    """Return the name of a file or folder, also when the path is ``.`` or ends in ``..``."""
    return path.resolve().name if path.name in ("", "..") else path.name


def _read(path: Path, kind: str, ending: str, parser: Parser) -> tuple[Tree, str]:
    """Return the code at a path, and its digest."""
    if kind == "folder":
        tree = read_folder(path)
        return tree, _digest(_listing(tree))
    require(kind, "file", path.name)
    if not ending:
        raise Refused(
            f"{one_line(path.name, 200)} is of no known kind, "
            f"expected a folder or one of {', '.join(ACCEPTED)}"
        )
    data = read_file(path, ENDINGS.get(ending, HANDED_IN_CAP))
    if ending in ARCHIVES:
        return read_archive(data, ARCHIVES[ending], parser), _digest(data)
    name = plain_ending(_portable(path.name, f"submission{ending}"))
    file = SourceFile(name=name, data=data)
    return Tree(files=(file,), left_out=0), _digest(data)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _listing(tree: Tree) -> bytes:
    """List files as ``sha256sum`` does, sorted by name."""
    files = sorted(tree.files, key=lambda file: file.name)
    return "".join(f"{_digest(file.data)}  {file.name}\n" for file in files).encode()


def _portable(name: str, otherwise: str) -> str:
    """Keep the name of a file that was handed in alone, unless some system cannot have it."""
    try:
        require_portable([name])
    except Refused:
        return otherwise
    return name


class _Reader:
    """Reads the files of a submission as Python text."""

    def __init__(self, files: Mapping[str, bytes], parser: Parser, adapt: bool) -> None:
        self._files = files
        self._parser = parser
        self._adapt = adapt

    def outline(self, name: str) -> Outline | None:
        # What is wrong with a file is its own affair, should it be chosen.
        try:
            return self._parser.outline(self.python(name)[0])
        except Refused:
            return None

    def python(self, name: str) -> tuple[str, Sequence[str]]:
        """Return what Python reads of a file, and notes on what was left out or replaced.

        Raises:
            Refused: it is not text, or no notebook.
        """
        data = self._files[name]
        if name.endswith(".ipynb"):
            return _notebook(name, data, self._parser, self._adapt)
        text = decode_python(name, data)
        if not _PERHAPS_NOT_PYTHON.search(text):
            return text, ()
        try:
            script = self._parser.script(text, replace=self._adapt)
        except Refused:  # Too much for the parser; the sandbox has limits of its own.
            return text, ()
        return script.source, script.notes


def _python_file(name: str, text: str) -> SourceFile:
    return SourceFile(name=name, data=text.encode())


def _notebook(name: str, data: bytes, parser: Parser, adapt: bool) -> tuple[str, list[str]]:
    """Return a notebook's code as one Python file, and notes on it."""
    text = decode(name, data)
    try:
        notebook = parser.notebook(text, replace=adapt)
    except Refused as refused:
        raise Refused(f"{name} {refused}") from None
    if not notebook.cells:
        raise Refused(f"{name} has no code cell")
    require_size(len(notebook.source.encode()), FILE_CAP, f"the code in {name}")
    if "\0" in notebook.source:
        raise Refused(f"{name} has a NUL character, expected text")
    return notebook.source, [f"code cells joined: {notebook.cells}", *notebook.notes]


def _python_name(notebook: str, files: Mapping[str, bytes]) -> str:
    """Name the Python file that a notebook becomes, beside the files that are there."""
    path = PurePosixPath(notebook)
    name = str(path.with_suffix(".py"))
    return name if name not in files else str(path.with_name(f"{path.stem}_notebook.py"))


def _tree_notes(tree: Tree, entry: str) -> list[str]:
    notes = []
    if len(tree.files) > 1:
        notes.append(f"{entry} was graded, of {len(tree.files)} files of code")
    notebooks = [f.name for f in tree.files if f.name.endswith(".ipynb")]
    notes += [f"{name} was left out" for name in notebooks if name != entry]
    if tree.left_out:
        notes.append(f"files left out since they are not code: {tree.left_out}")
    return notes


def _capped(notes: list[str]) -> tuple[str, ...]:
    more = len(notes) - NOTES_CAP
    kept = [one_line(note, 500) for note in notes[:NOTES_CAP]]
    return (*kept, f"and {more} more notes") if more > 0 else tuple(kept)
