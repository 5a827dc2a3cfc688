"""Writes ``docs/licences.md``: ``python -m harness.commands.licences``."""

from __future__ import annotations

import email.message
import importlib.metadata
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, cast

import harness

PAGE: Final = Path(harness.__file__).parents[1] / "docs" / "licences.md"
_HEADING: Final = """\
# Licences of what takehome requires

As each package states it, for the package and all that it requires, extras left out. The packages
inside the images: `takehome image contents takehome-torch`. Made by
`python -m harness.commands.licences`.

| package | licence |
|---|---|
"""
_NAME: Final = re.compile(r"[A-Za-z0-9._-]+")


def required(name: str) -> dict[str, importlib.metadata.Distribution]:
    """Return what a package requires here, at any remove, by normalised name."""
    found: dict[str, importlib.metadata.Distribution] = {}
    pending = [name]
    while pending:
        for asked in _direct(pending.pop()):
            if asked not in found:
                try:
                    found[asked] = importlib.metadata.distribution(asked)
                except importlib.metadata.PackageNotFoundError:
                    continue  # for another system or Python
                pending.append(asked)
    return found


def _direct(name: str) -> Iterator[str]:
    for line in importlib.metadata.requires(name) or ():
        if "extra ==" not in line and (match := _NAME.match(line)):
            yield re.sub(r"[-_.]+", "-", match[0]).lower()


def licence(distribution: importlib.metadata.Distribution) -> str:
    """Return a package's licence: its expression, else its classifiers, else its first line."""
    data = cast(email.message.Message, distribution.metadata)
    stated = [
        line.rpartition(" :: ")[2]
        for line in data.get_all("Classifier") or ()
        if line.startswith("License :: ")
    ]
    text = data.get("License-Expression") or "; ".join(stated) or data.get("License") or ""
    return text.partition("\n")[0].strip() or "not stated"


def page() -> str:
    """Return the page."""
    found = sorted(required("takehome").items())
    return _HEADING + "".join(f"| {name} | {licence(package)} |\n" for name, package in found)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
