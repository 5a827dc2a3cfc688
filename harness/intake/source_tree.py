"""The code in a folder or an archive: one set of rules, whichever it came in.

Only Python files and notebooks are kept, under the names that they have. Hidden folders (``.git``
too), ``__pycache__``, ``__MACOSX`` and virtual environments are passed over, other files are
counted and left out. A link, pipe, device or
encrypted file anywhere else, a name that points elsewhere or cannot be shown, and too much of
anything end the submission.
"""

from __future__ import annotations

import dataclasses
import re
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from harness.errors import Refused
from harness.intake.directory import Folder, require_size
from harness.parsing import Parser
from harness.text import one_line

#: A hundred times a long submission.
FILE_CAP: Final = 256 << 10
#: A notebook or archive as it was handed in; pictures in outputs are large, the code is not.
HANDED_IN_CAP: Final = 8 << 20
FILES_CAP: Final = 20
ENTRIES_CAP: Final = 200
DEPTH_CAP: Final = 16
NAME_CAP: Final = 255

#: What is read, by the ending of its name, and how many bytes of it.
ENDINGS: Final = {".py": FILE_CAP, ".ipynb": HANDED_IN_CAP}
#: Folders that no code of the candidate's is in, besides those whose name begins with a dot.
HIDDEN: Final = ("__pycache__", "__MACOSX", "node_modules", "site-packages", "venv")
#: What a folder has that is a virtual environment, whatever its name.
_ENVIRONMENT: Final = "pyvenv.cfg"

#: Names that Windows gives to devices, whatever their ending.
_DEVICE: Final = re.compile(r"(con|prn|aux|nul|com\d|lpt\d|conin\$|conout\$)(\..*)?", re.IGNORECASE)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """One file of a submission: its path inside it, with slashes, and its bytes."""

    name: str
    data: bytes


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One thing in a folder or an archive; ``data`` is None when it was not read."""

    name: str
    kind: str  #: "file", "folder", or the words for what is refused
    data: bytes | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """The Python files and notebooks of a folder or an archive."""

    files: tuple[SourceFile, ...]
    left_out: int  #: files that are neither


def is_hidden(name: str) -> bool:
    """Tell whether an entry's name is one to pass over: ``.git``, ``__pycache__``, ``._x.py``."""
    return name.startswith(".") or name in HIDDEN


def read_folder(path: Path) -> Tree:
    """Read the code in a folder.

    Raises:
        Refused: the folder breaks a rule of this module.
    """
    with Folder.open(path) as folder:
        return gather(_walk(folder, ""))


def read_archive(data: bytes, form: str, parser: Parser) -> Tree:
    """Read the code in an archive: zip, tar, gz, bz2 or xz. Nothing is written to disk.

    Raises:
        Refused: the archive is broken or breaks a rule of this module.
    """
    # One file more than allowed, so that there being too many is noticed.
    try:
        found = parser.archive(
            data, form, endings=ENDINGS, hidden=list(HIDDEN), files=FILES_CAP + 1
        )
    except Refused as refused:
        raise Refused(f"the archive {refused}") from None
    environments = tuple(
        each.name.removesuffix(_ENVIRONMENT)
        for each in found
        if each.name.endswith(f"/{_ENVIRONMENT}")
    )
    return gather(
        Entry(name=each.name, kind=each.kind, data=each.data)
        for each in found
        if not each.name.startswith(environments)
    )


def gather(entries: Iterable[Entry]) -> Tree:
    """Keep the code among the entries, which are read only as far as the rules allow."""
    files: dict[str, SourceFile] = {}
    counted = left_out = 0
    for entry in entries:
        parts = path_parts(entry.name)
        if any(map(is_hidden, parts)) or not parts:
            continue
        counted += 1
        if counted > ENTRIES_CAP:
            raise _too_many_entries()
        if entry.kind not in ("file", "folder"):
            raise Refused(f"{one_line(entry.name, 200)} is {entry.kind}, expected a plain file")
        if entry.kind == "folder":
            continue
        if byte_cap(entry.name) is None:
            left_out += 1
        elif len(files) == FILES_CAP:
            raise Refused(
                f"the submission has more than {FILES_CAP} Python files and notebooks; "
                "hand in fewer"
            )
        else:
            _add(files, parts, entry)
    return Tree(files=tuple(files.values()), left_out=left_out)


def byte_cap(name: str) -> int | None:
    """Return how many bytes a file of this name may have, or None when it is not code."""
    return next((ENDINGS[end] for end in ENDINGS if name.lower().endswith(end)), None)


def plain_ending(name: str) -> str:
    """Spell the ending of a code file in lower case, as Python's import wants it."""
    return next((name[: -len(end)] + end for end in ENDINGS if name.lower().endswith(end)), name)


def path_parts(name: str) -> tuple[str, ...]:
    """Split an entry's name, which must lead to somewhere inside the submission on any system.

    Raises:
        Refused: the name is absolute, leads upwards, or is nested too deep.
    """
    if name.startswith("/") or re.match(r"[A-Za-z]:", name):
        raise _bad_name(name, "is absolute")
    parts = tuple(part for part in name.split("/") if part not in ("", "."))
    if ".." in parts:
        raise _bad_name(name, "leads out of the submission")
    if "\\" in name or "\0" in name:
        raise _bad_name(name, "has a backslash or NUL")
    if len(parts) > DEPTH_CAP:
        raise _bad_name(name, f"is nested more than {DEPTH_CAP} deep")
    return parts


def require_portable(parts: Iterable[str]) -> None:
    """Refuse the name of a code file that cannot be shown, or that some system cannot have."""
    for part in parts:
        if not part.isprintable() or one_line(part) != part:
            raise _bad_name(part, "has characters that cannot be seen")
        if any(character in part for character in '\\/:*?"<>|'):
            raise _bad_name(part, "has a character that is not allowed everywhere")
        if len(part.encode()) > NAME_CAP:
            raise _bad_name(part, f"is longer than {NAME_CAP} bytes")
        if _DEVICE.fullmatch(part) or part.endswith((" ", ".")):
            raise _bad_name(part, "means something else on Windows")


def _bad_name(name: str, why: str) -> Refused:
    return Refused(f"the name '{one_line(name, 100)}' {why}; rename it")


def _too_many_entries() -> Refused:
    return Refused(f"the submission has more than {ENTRIES_CAP} entries; hand in the code only")


def _add(files: dict[str, SourceFile], parts: tuple[str, ...], entry: Entry) -> None:
    require_portable(parts)
    name = plain_ending("/".join(parts))
    if entry.data is None:
        raise Refused(f"{name} cannot be read")
    require_size(len(entry.data), byte_cap(name) or 0, name)
    # On macOS and Windows two such names are one file.
    same = unicodedata.normalize("NFC", name).casefold()
    if same in files:
        raise Refused(f"the submission has two files named {files[same].name}; rename one")
    files[same] = SourceFile(name=name, data=entry.data)


def _walk(folder: Folder, prefix: str) -> Iterator[Entry]:
    names = folder.names(ENTRIES_CAP)
    if len(names) > ENTRIES_CAP:
        raise _too_many_entries()
    if prefix and _ENVIRONMENT in names:
        return
    for name in names:
        kind = "hidden" if is_hidden(name) else folder.kind(name)
        cap = byte_cap(name) if kind == "file" else None
        data = None if cap is None else folder.read(name, cap)
        yield Entry(name=prefix + name, kind=kind, data=data)
        if kind == "folder":
            with folder.folder(name) as inner:
                yield from _walk(inner, f"{prefix}{name}/")
