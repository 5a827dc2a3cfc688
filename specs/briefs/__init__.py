"""What each assignment asks of the candidate: a brief in Markdown and a starter file."""

from __future__ import annotations

from importlib import resources


def brief(name: str) -> str:
    """Return the brief of an assignment, in Markdown."""
    return resources.files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8")


def brief_in(name: str, code: str) -> str | None:
    """Return the brief in another language than English, or None where it has not been written."""
    translated = resources.files(__name__).joinpath(f"{name}.{code}.md")
    return translated.read_text(encoding="utf-8") if translated.is_file() else None


def starter(name: str) -> str:
    """Return the file that a candidate of this assignment starts from."""
    return resources.files(__name__).joinpath(f"{name}.py.txt").read_text(encoding="utf-8")
