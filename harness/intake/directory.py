"""Reading what was handed in: nothing is followed, waited for, or believed before it is open.

A file is looked at, opened without following a link or waiting for a pipe, looked at again
through its descriptor, and read once from there, one byte further than its cap. Folders are
entered through descriptors, so that a name cannot be swapped for a link on the way. Where the
system lacks these flags (Windows), the two looks must agree on the file's identity.
"""

from __future__ import annotations

import itertools
import os
import stat
from pathlib import Path
from types import TracebackType
from typing import Self

from harness.errors import Refused
from harness.text import one_line

#: Windows' tag of a junction, which ``lstat`` does not call a link.
_MOUNT_POINT = getattr(stat, "IO_REPARSE_TAG_MOUNT_POINT", None)


def kind_of(status: os.stat_result) -> str:
    """Name what a status describes: "file", "folder", or the words for what is refused."""
    if stat.S_ISLNK(status.st_mode) or getattr(status, "st_reparse_tag", 0) == _MOUNT_POINT:
        return "a symbolic link"
    if stat.S_ISDIR(status.st_mode):
        return "folder"
    if not stat.S_ISREG(status.st_mode):
        return "a pipe, socket or device"
    return "a hard link" if status.st_nlink > 1 else "file"


def kind_at(path: Path) -> str:
    """Name what is at a path, as ``kind_of`` does; the last part of it is not followed.

    Raises:
        Refused: there is nothing, or it cannot be looked at.
    """
    try:
        return kind_of(path.lstat())
    except OSError as error:
        raise _unreadable(path.name or str(path), error) from None


def require(kind: str, expected: str, name: str) -> None:
    """Refuse anything that is not of the expected kind ("file" or "folder")."""
    if kind != expected:
        said = f"a {kind}" if kind in ("file", "folder") else kind
        raise Refused(
            f"{one_line(name, 200)} is {said}, expected a {expected}; hand in the {expected} itself"
        )


def require_size(size: int, cap: int, name: str) -> None:
    """Refuse a file of more than ``cap`` bytes."""
    if size > cap:
        raise Refused(
            f"{one_line(name, 200)} is larger than {cap >> 10:,} KiB; hand in the code only"
        )


def read_file(path: Path, cap: int) -> bytes:
    """Read a regular file of at most ``cap`` bytes.

    Raises:
        Refused: it is a link, pipe or device, is too large, or cannot be read.
    """
    return _read(str(path), None, cap, path.name)


class Folder:
    """An open folder, and the way to everything beneath it."""

    def __init__(self, path: Path, descriptor: int | None) -> None:
        self._path = path
        self._descriptor = descriptor

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open a folder by its path; the last part of the path may not be a link."""
        return cls(path, _open_folder(str(path), None, path.name))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)

    def names(self, cap: int) -> list[str]:
        """Return the names in the folder, sorted; reading stops one past ``cap``."""
        try:
            with os.scandir(self._path if self._descriptor is None else self._descriptor) as found:
                return sorted(entry.name for entry in itertools.islice(found, cap + 1))
        except OSError as error:
            raise _unreadable(self._path.name, error) from None

    def kind(self, name: str) -> str:
        """Name what an entry is, without following it."""
        where, descriptor = self._at(name)
        try:
            return kind_of(os.stat(where, dir_fd=descriptor, follow_symlinks=False))
        except OSError as error:
            raise _unreadable(name, error) from None

    def read(self, name: str, cap: int) -> bytes:
        """Read a file of the folder, as ``read_file`` does."""
        where, descriptor = self._at(name)
        return _read(where, descriptor, cap, name)

    def folder(self, name: str) -> Folder:
        """Open a folder of the folder."""
        where, descriptor = self._at(name)
        return Folder(self._path / name, _open_folder(where, descriptor, name))

    def _at(self, name: str) -> tuple[str, int | None]:
        if self._descriptor is None:
            return str(self._path / name), None
        return name, self._descriptor


def _read(where: str, folder: int | None, cap: int, name: str) -> bytes:
    try:
        before = os.stat(where, dir_fd=folder, follow_symlinks=False)
        require(kind_of(before), "file", name)
        require_size(before.st_size, cap, name)
        descriptor = os.open(where, _flags("O_NONBLOCK", "O_BINARY"), dir_fd=folder)
        with os.fdopen(descriptor, "rb") as file:
            opened = os.fstat(descriptor)
            require(kind_of(opened), "file", name)
            _require_same(before, opened, name)
            data = file.read(cap + 1)
    except OSError as error:
        raise _unreadable(name, error) from None
    require_size(len(data), cap, name)
    return data


def _open_folder(where: str, folder: int | None, name: str) -> int | None:
    """Return a descriptor of a folder, or None where folders have no descriptors."""
    try:
        before = os.stat(where, dir_fd=folder, follow_symlinks=False)
        require(kind_of(before), "folder", name)
        if os.open not in os.supports_dir_fd or os.scandir not in os.supports_fd:
            return None
        descriptor = os.open(where, _flags("O_DIRECTORY"), dir_fd=folder)
    except OSError as error:
        raise _unreadable(name, error) from None
    try:
        _require_same(before, os.fstat(descriptor), name)
    except Refused:
        os.close(descriptor)
        raise
    return descriptor


def _flags(*names: str) -> int:
    flags = os.O_RDONLY
    for name in ("O_NOFOLLOW", "O_CLOEXEC", *names):
        flags |= getattr(os, name, 0)
    return flags


def _require_same(before: os.stat_result, opened: os.stat_result, name: str) -> None:
    if not os.path.samestat(before, opened):
        raise Refused(f"{one_line(name, 200)} was replaced while it was read; grade it again")


def _unreadable(name: str, error: OSError) -> Refused:
    reason = error.strerror or type(error).__name__
    return Refused(f"{one_line(name, 200)} cannot be read: {reason}")
