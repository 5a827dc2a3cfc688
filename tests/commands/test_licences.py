"""The page of licences names what the package requires."""

from __future__ import annotations

import tomllib
from pathlib import Path

from packaging.requirements import Requirement

from harness.commands.licences import page

ROOT = Path(__file__).parents[2]


def test_every_dependency_has_a_licence_on_the_page() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    written = (ROOT / "docs" / "licences.md").read_text(encoding="utf-8")
    for line in project["dependencies"]:
        assert f"| {Requirement(line).name} |" in written
    assert "not stated" not in written


def test_the_page_is_made_of_what_is_installed() -> None:
    assert "| numpy | BSD-3-Clause" in page()
