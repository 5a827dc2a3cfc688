"""One run of a candidate's tests, in the process that was forked for it."""

from __future__ import annotations

import contextlib
import functools
import importlib.machinery
import json
import os
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

#: Tests of one submission that run; and of a name, so many characters are reported.
TESTS_CAP = 500
NAME_CAP = 120
ERRORS_CAP = 5
_FOLDER = Path("/tmp/handed_in")
_QUIET = ("-q", "-p", "no:cacheprovider", "-p", "no:faulthandler", "--tb=no", "--no-header")


def is_test(name: str) -> bool:
    """Tell whether a file is one of tests, by its name as pytest does, or their ``conftest.py``."""
    stem = PurePosixPath(name).name
    return stem == "conftest.py" or (
        stem.endswith(".py") and (stem.startswith("test_") or stem.endswith("_test.py"))
    )


class Recorder:
    """The plugin that notes what became of each test."""

    def __init__(self, only: Sequence[str] | None) -> None:
        self._only = None if only is None else {*only}
        self.collected = 0
        self.passed: list[str] = []
        self.failed: list[str] = []
        self.errors: list[str] = []

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Keep the tests that are to run."""
        self.collected = len(items)
        kept = items if self._only is None else [i for i in items if i.nodeid in self._only]
        items[:] = kept[:TESTS_CAP]

    def pytest_collectreport(self, report: Any) -> None:
        """Note a file that could not be read."""
        if report.failed and len(self.errors) < ERRORS_CAP:
            lines = str(report.longrepr).strip().splitlines()
            self.errors.append(f"{report.nodeid}: {lines[-1] if lines else ''}"[:NAME_CAP])

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Note how a test ended, in any of its phases."""
        if report.failed:
            if report.nodeid not in self.failed:
                self.failed.append(report.nodeid)
        elif report.when == "call" and report.passed:
            self.passed.append(report.nodeid)


class StandIns:
    """Finds the candidate's modules, and gives them the functions of another program.

    Where a module has a name that the program defines, it is the program's; all else in it is the
    candidate's own.
    """

    def __init__(self, folder: Path, entry: str, functions: Mapping[str, Any]) -> None:
        self._folder = f"{folder}{os.sep}"
        self._entry = f"{folder / entry}"
        self._functions = functions

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Find a module of the candidate's that is none of the tests."""
        spec = importlib.machinery.PathFinder.find_spec(fullname, path)
        origin = (spec and spec.origin) or ""
        if spec is None or not origin.startswith(self._folder) or is_test(origin):
            return None
        loader: Any = spec.loader
        everything = origin == self._entry
        spec.loader = _Loader(loader, self._functions, everything=everything)  # type: ignore[assignment]
        return spec


class _Loader:
    def __init__(self, own: Any, functions: Mapping[str, Any], *, everything: bool) -> None:
        self._own = own
        self._functions = functions
        self._everything = everything

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType | None:
        """Make the module as its own loader does."""
        made: types.ModuleType | None = self._own.create_module(spec)
        return made

    def exec_module(self, module: types.ModuleType) -> None:
        """Execute the module, and replace what the program defines."""
        everything = self._everything
        try:
            self._own.exec_module(module)
        except BaseException:  # what does not load is no help to the tests
            everything = True
        for name, function in self._functions.items():
            if everything or hasattr(module, name):
                setattr(module, name, function)


def functions_of(text: str, names: Sequence[str], called: set[str]) -> dict[str, Any]:
    """Return the functions that a program defines; each notes in ``called`` that it was called."""
    module = types.ModuleType("program")
    exec(compile(text, "program", "exec"), module.__dict__)
    return {name: _noting(getattr(module, name), name, called) for name in names}


def _noting(function: Callable[..., Any], name: str, called: set[str]) -> Callable[..., Any]:
    @functools.wraps(function)
    def noting(*arguments: Any, **named: Any) -> Any:
        called.add(name)
        return function(*arguments, **named)

    return noting


def run(files: Mapping[str, bytes], wanted: Mapping[str, Any], outgoing: int) -> None:
    """Run the tests against a program, and write what became of them to a descriptor."""
    import pytest

    _be_quiet()
    for name, data in files.items():
        path = _FOLDER / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    os.chdir(_FOLDER)
    called: set[str] = set()
    functions = functions_of(wanted["text"], wanted["names"], called)
    entry: str = wanted["entry"]
    sys.path[:0] = [str((_FOLDER / entry).parent), str(_FOLDER)]
    sys.meta_path.insert(0, StandIns(_FOLDER, entry, functions))
    recorder = Recorder(wanted["only"])
    stop = ["-x"] if wanted["only"] is not None else []  # the first that fails has found it
    with contextlib.suppress(SystemExit):
        pytest.main([*_QUIET, *stop, f"--rootdir={_FOLDER}", "."], plugins=[recorder])
    report = {
        "collected": recorder.collected,
        "passed": recorder.passed,
        "failed": recorder.failed,
        "errors": recorder.errors,
        "called": sorted(called),
    }
    view = memoryview(json.dumps(report).encode())
    while view:
        view = view[os.write(outgoing, view) :]


def warm_up(folder: str) -> None:
    """Load what pytest loads, by a run over an empty folder, and what tests compare with.

    ``torch.testing`` alone takes a second, which each run would wait for.
    """
    import numpy.testing
    import pytest

    numpy.testing.assert_allclose(numpy.ones(1), 1)
    if "torch" in sys.modules:
        torch = sys.modules["torch"]
        torch.testing.assert_close(torch.ones(1), torch.ones(1))

    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    pytest.main([*_QUIET, f"--rootdir={folder}", folder])


def _be_quiet() -> None:
    """What tests print is nobody's to read."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(nothing, descriptor)
    os.close(nothing)
