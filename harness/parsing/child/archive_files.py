"""The entries of a zip or tar archive, read as streams in memory; nothing is ever extracted.

What may be in an archive is decided by the harness, which gets every entry's name and kind. Here
are only the caps on work: entries, bytes that come out, and how many times more than went in.
"""

import base64
import bz2
import gzip
import io
import lzma
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO, Any, Final

ENTRIES_CAP: Final = 10_000
OUTPUT_CAP: Final = 64 << 20
#: Source code in a tar shrinks 5 to 50 times (it is padded to 512 bytes), a bomb 1,000 times.
RATIO_CAP: Final = 200
#: Below this much output the ratio says nothing.
RATIO_FROM: Final = 1 << 20

BROKEN: Final = (
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    OSError,
    ValueError,
    NotImplementedError,
    RuntimeError,
    MemoryError,
)


class Refusal(Exception):
    """The archive asks for more than it may."""


def run(arguments: dict[str, Any]) -> dict[str, Any]:
    """List an archive's entries, with the content of those that are wanted.

    ``data`` is the archive in base64; ``format`` is zip, tar, gz, bz2 or xz; ``endings`` maps the
    endings of wanted names to how many bytes are read of each; ``hidden`` are names of folders
    not to read; ``files`` is how many files to read at most.
    """
    wanted = Wanted(arguments["endings"], arguments["hidden"], arguments["files"])
    raw = io.BytesIO(base64.b64decode(arguments["data"]))
    form = arguments["format"]
    try:
        found = zip_entries(raw, wanted) if form == "zip" else tar_entries(raw, form, wanted)
        entries = list(found)
    except Refusal as refusal:
        return {"refused": str(refusal)}
    except BROKEN as error:
        return {"refused": f"is not a readable archive ({type(error).__name__})"}
    return {"entries": entries}


class Wanted:
    """Which entries to read, and how far."""

    def __init__(self, endings: dict[str, int], hidden: list[str], files: int) -> None:
        self._endings = endings
        self._hidden = hidden
        self._files = files

    def cap(self, name: str) -> int | None:
        """Return how many bytes of an entry are wanted, or None for none."""
        parts = [part for part in name.split("/") if part != "."]
        if any(part.startswith(".") or part in self._hidden for part in parts):
            return None
        for ending, cap in self._endings.items():
            if name.lower().endswith(ending) and self._files > 0:
                self._files -= 1
                return cap
        return None


def entry(name: str, kind: str, data: bytes | None = None) -> dict[str, Any]:
    """Describe one entry in JSON."""
    try:
        name.encode()
    except UnicodeEncodeError:
        raise Refusal("has a file name that is not UTF-8") from None
    return {
        "name": name,
        "kind": kind,
        "data": None if data is None else base64.b64encode(data).decode("ascii"),
    }


def zip_entries(raw: IO[bytes], wanted: Wanted) -> Iterator[dict[str, Any]]:
    """Read a zip archive."""
    # Counted before zipfile builds an object for each.
    if raw.read().count(b"PK\x01\x02") > ENTRIES_CAP:
        raise Refusal(f"has more than {ENTRIES_CAP:,} entries")
    with zipfile.ZipFile(raw) as archive:
        for info in archive.infolist():
            # Some tools on Windows write backslashes, against the format.
            name = info.orig_filename.replace("\\", "/")
            kind = zip_kind(info, name)
            cap = wanted.cap(name) if kind == "file" else None
            if cap is None:
                yield entry(name, kind)
            else:
                with archive.open(info) as file:
                    yield entry(name, kind, file.read(cap + 1))


def zip_kind(info: zipfile.ZipInfo, name: str) -> str:
    """Name what a zip entry is, from the mode bits that Unix tools store."""
    mode = info.external_attr >> 16
    if stat.S_ISLNK(mode):
        return "a symbolic link"
    if name.endswith("/"):
        return "folder"
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        return "a pipe, socket or device"
    if info.flag_bits & 0x1:
        return "encrypted"
    # The others cannot be unpacked a little at a time: 4 KiB of bzip2 is 100 MB of zeros.
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return "compressed by a method other than deflate"
    return "file"


def tar_entries(raw: io.BytesIO, form: str, wanted: Wanted) -> Iterator[dict[str, Any]]:
    """Read a tar archive, from front to back."""
    with tarfile.open(fileobj=Capped(raw, form), mode="r|") as archive:
        for number, member in enumerate(archive):
            if number >= ENTRIES_CAP:
                raise Refusal(f"has more than {ENTRIES_CAP:,} entries")
            kind = tar_kind(member)
            cap = wanted.cap(member.name) if kind == "file" else None
            file = None if cap is None else archive.extractfile(member)
            if cap is None or file is None:
                yield entry(member.name, kind)
            else:
                yield entry(member.name, kind, file.read(cap + 1))


def tar_kind(member: tarfile.TarInfo) -> str:
    """Name what a tar member is."""
    if member.isdir():
        return "folder"
    if member.issym():
        return "a symbolic link"
    if member.islnk():
        return "a hard link"
    if member.issparse():
        return "a sparse file"
    return "file" if member.isreg() else "a pipe, socket or device"


class Capped(io.RawIOBase):
    """The unpacked stream of a tar archive, which ends the work when too much comes out."""

    def __init__(self, raw: io.BytesIO, form: str) -> None:
        self._raw = raw
        self._output = 0
        self._unpacked = unpacked(raw, form)

    def read(self, size: int = -1) -> bytes:
        """Read up to ``size`` bytes, which must be given."""
        data = self._unpacked.read(size)
        self._output += len(data)
        if self._output > OUTPUT_CAP:
            raise Refusal(f"unpacks to more than {OUTPUT_CAP >> 20} MiB")
        if self._output > RATIO_FROM and self._output > RATIO_CAP * max(self._raw.tell(), 1):
            raise Refusal(f"unpacks to more than {RATIO_CAP} times its size")
        return data


def unpacked(raw: io.BytesIO, form: str) -> io.BufferedIOBase:
    """Return the stream inside a compressed one; each unpacks no more than it is asked for."""
    if form == "gz":
        return gzip.GzipFile(fileobj=raw)
    if form == "bz2":
        return bz2.BZ2File(raw)
    return lzma.LZMAFile(raw) if form == "xz" else raw
