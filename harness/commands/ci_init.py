"""``takehome ci init``: what to copy into a repository of submissions."""

from __future__ import annotations

import importlib.resources
import json
import string
from pathlib import Path
from typing import Final

from harness.errors import UnknownName, UsageError

#: Kind -> the template, and where its copy goes.
KINDS: Final = {
    "github": ("github.yml", ".github/workflows/takehome.yml"),
    "gitlab": ("gitlab.yml", ".gitlab-ci.yml"),
    "pre-commit": ("pre-commit.yaml", ".pre-commit-config.yaml"),
}


def write_ci(kind: str, folder: Path, install: str) -> Path:
    """Write the configuration of one kind of CI below a folder and return its path.

    ``install`` is what the job gives to ``pip install``.

    Raises:
        UnknownName: there is no such kind.
        UsageError: the file is there already, or cannot be written.
    """
    if kind not in KINDS:
        raise UnknownName("ci init", kind, KINDS)
    name, place = KINDS[kind]
    path = folder / place
    if path.exists():
        raise UsageError(f"{path} is there already; move it away first")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(ci_text(name, install), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be written ({error.strerror})") from None
    return path


def ci_text(name: str, install: str) -> str:
    """Fill a template in; what is installed is quoted as YAML has it."""
    folder = importlib.resources.files("harness.commands").joinpath("ci_templates")
    text = folder.joinpath(name).read_text("utf-8")
    return string.Template(text).safe_substitute(install=json.dumps(install))
