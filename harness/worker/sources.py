"""The submission's own modules, imported from memory: nothing of it is on a disk."""

from __future__ import annotations

import importlib.machinery
import linecache
import sys
import types
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

#: Parent of every module, so that ``from .layers import Head`` works beside the entry file.
PACKAGE = "submission"


class Sources:
    """Finds modules among the submission's files.

    Looked for beside the entry file first, then in each folder above it up to the root.
    """

    def __init__(self, files: Mapping[str, bytes], entry: str) -> None:
        self.texts = {
            name: data.decode("utf-8-sig", "backslashreplace")
            for name, data in files.items()
            if name.endswith(".py")
        }
        self.entry = entry
        self._path = [str(folder) for folder in PurePosixPath(entry).parents]  #: "." is the root
        for name, text in self.texts.items():
            # With this, a traceback that the submission prints shows its own lines.
            linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Find a module or package of the submission."""
        if fullname == PACKAGE:
            return self._spec(fullname, "", is_package=True)
        stem = fullname.removeprefix(f"{PACKAGE}.").replace(".", "/")
        folders = ["."] if fullname.startswith(f"{PACKAGE}.") else self._path
        for place in (f"{folder}/{stem}".removeprefix("./") for folder in folders):
            if f"{place}.py" in self.texts:
                return self._spec(fullname, f"{place}.py", is_package=False)
            if f"{place}/__init__.py" in self.texts:
                return self._spec(fullname, f"{place}/__init__.py", is_package=True)
            if any(name.startswith(f"{place}/") for name in self.texts):
                return self._spec(fullname, "", is_package=True)
        return None

    def _spec(
        self, fullname: str, file: str, *, is_package: bool
    ) -> importlib.machinery.ModuleSpec:
        # Not an importlib.abc.Loader: that loads importlib.resources, 5 ms for each container.
        return importlib.machinery.ModuleSpec(
            fullname,
            self,  # type: ignore[arg-type]
            origin=file,
            is_package=is_package,
        )

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        """Let the import system make an ordinary module."""

    def exec_module(self, module: types.ModuleType) -> None:
        """Execute a file of the submission in its module."""
        assert module.__spec__ is not None
        if file := module.__spec__.origin:
            module.__file__ = file
            exec(self.compile(file), module.__dict__)

    def compile(self, file: str) -> types.CodeType:
        """Compile one file under its own name."""
        return compile(self.texts[file], file, "exec", dont_inherit=True)

    def entry_module(self) -> types.ModuleType:
        """Return the entry file's module, empty but registered; its name is not ``__main__``."""
        path = PurePosixPath(self.entry)
        name = path.stem
        if not name.isidentifier() or name in sys.modules or name in sys.stdlib_module_names:
            name = "solution"
        module = types.ModuleType(name)
        module.__file__ = self.entry
        module.__package__ = ".".join([PACKAGE, *path.parts[:-1]])
        sys.modules[name] = module
        return module
