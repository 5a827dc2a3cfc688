"""Specs of one's own: a file, or an installed package with the entry point group takehome.specs.

Their code runs on the host, like any spec's: load only what you wrote or trust.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import sys
import traceback
from pathlib import Path

from harness.errors import UsageError
from harness.spec import Spec

GROUP = "takehome.specs"


def is_path(name: str) -> bool:
    """Tell whether a ``--spec`` is a file and not a name."""
    return name.endswith(".py") or "/" in name or "\\" in name


def load_file(path: Path) -> Spec:
    """Return the ``SPEC`` of a Python file.

    Raises:
        UsageError: there is no such file, it does not run, or it has no ``SPEC``; the message
            names the line.
    """
    if not path.is_file():
        raise UsageError(f"spec is {path}, expected a Python file; check the path")
    name = f"takehome_spec_{path.stem}"
    found = importlib.util.spec_from_file_location(name, path)
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules[name] = module  # dataclasses look their module up by name
    try:
        found.loader.exec_module(module)
    except Exception as error:  # whatever the author's code raises, it is told with its line
        raise UsageError(f"{path}{_line(error, path)}: {type(error).__name__}: {error}") from error
    return _checked(getattr(module, "SPEC", None), str(path))


def installed() -> dict[str, importlib.metadata.EntryPoint]:
    """Return the specs that installed packages offer, by name."""
    return {point.name: point for point in importlib.metadata.entry_points(group=GROUP)}


def load_installed(point: importlib.metadata.EntryPoint) -> Spec:
    """Return the spec of an installed package.

    Raises:
        UsageError: the package does not import, or what it names is no spec.
    """
    try:
        spec = point.load()
    except Exception as error:
        raise UsageError(
            f"spec {point.name} of {point.value} does not load: {type(error).__name__}: {error}; "
            "mend or uninstall the package"
        ) from error
    return _checked(spec, point.value)


def _checked(spec: object, origin: str) -> Spec:
    if not isinstance(spec, Spec):
        raise UsageError(
            f"SPEC of {origin} is {type(spec).__name__}, expected a harness.Spec; "
            "`takehome spec new NAME` writes one to start from"
        )
    return spec


def _line(error: BaseException, path: Path) -> str:
    """Return ``:line`` of the author's file, where an exception has one."""
    if isinstance(error, SyntaxError) and error.lineno:
        return f":{error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(path)]
    return f":{lines[-1]}" if lines else ""
