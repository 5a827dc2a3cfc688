"""What each assignment asks of the candidate: a brief in Markdown and a starter file."""

from __future__ import annotations

from importlib import resources


def brief(name: str) -> str:
    """Return the brief of an assignment, in Markdown."""
    return resources.files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8")


def starter(name: str) -> str:
    """Return the file that a candidate of this assignment starts from."""
    return resources.files(__name__).joinpath(f"{name}.py.txt").read_text(encoding="utf-8")
