"""A git repository of submissions: where it is, what changed, and what its base has settled.

Git is asked for names and bytes only. Nothing of the repository is imported or run: no hook, no
external diff, no file system monitor that its configuration may name.
"""

from __future__ import annotations

import subprocess
from pathlib import Path, PurePosixPath

from harness.errors import UsageError
from harness.settings import FILE, Settings, parse_settings, read_settings
from harness.text import one_line

_QUIET = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.quotePath=0")


class Repository:
    """A working tree, and the commit that it is compared with, if any."""

    def __init__(self, folder: Path, base: str | None) -> None:
        """Find the root of the repository and the commit of ``base``.

        Raises:
            UsageError: it is no git repository, or there is no such commit.
        """
        self.root = folder.resolve()
        if base is None:
            self._base = ""
            return
        self.root = Path(self._git("rev-parse", "--show-toplevel").decode().rstrip("\n"))
        named = self._git("rev-parse", "--verify", "--end-of-options", f"{base}^{{commit}}")
        # What the change is against: the commit from which it was begun.
        self._base = self._git("merge-base", named.decode().strip(), "HEAD").decode().strip()
        self._tip = named.decode().strip()

    def settings(self) -> Settings:
        """Return what the base has settled; a change cannot change by what it is graded.

        Raises:
            UsageError: there are no settings, or they cannot be read.
        """
        if not self._base:
            file = self.root / FILE
            return read_settings(file if file.is_file() else None)
        try:
            text = self._git("show", f"{self._tip}:{FILE}").decode()
        except UsageError:
            return Settings(file=None)
        except UnicodeDecodeError:
            raise UsageError(f"{FILE} of the base is not UTF-8; mend it there") from None
        return parse_settings(text, self.root / FILE)

    def changed(self) -> list[PurePosixPath] | None:
        """Return the files that differ from the base and are still there; None without a base."""
        if not self._base:
            return None
        listed = self._git(
            "diff", "--name-only", "-z", "--no-ext-diff", "--no-textconv", "--no-renames",
            "--diff-filter=d", self._base, "--",
        )  # fmt: skip
        names = listed.decode("utf-8", "surrogateescape").split("\0")
        return [PurePosixPath(name) for name in names if name]

    def _git(self, *arguments: str) -> bytes:
        command = ["git", *_QUIET, "-C", str(self.root), *arguments]
        try:
            done = subprocess.run(command, capture_output=True, check=False)
        except OSError as error:
            raise UsageError(f"git does not start ({error.strerror}); install it") from None
        if done.returncode:
            said = one_line(done.stderr.decode(errors="replace").strip(), 300)
            raise UsageError(f"git {arguments[0]} of {self.root} failed: {said}")
        return done.stdout


def entries(folder: Path, root: Path, changed: list[PurePosixPath] | None) -> list[Path]:
    """Return the entries of a folder that a change touches, or all of them, sorted.

    A file or folder directly inside it is one submission; hidden ones are none.
    """
    try:
        names = sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))
    except OSError as error:
        raise UsageError(f"{folder} cannot be read ({error.strerror}); check its path") from None
    if changed is not None:
        place = PurePosixPath(folder.relative_to(root).as_posix())
        inside = [path.relative_to(place) for path in changed if path.is_relative_to(place)]
        touched = {path.parts[0] for path in inside if path.parts}
        names = [name for name in names if name in touched]
    return [folder / name for name in names]
