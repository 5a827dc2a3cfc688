"""Plain right answers in source, and known mistakes as edits of them.

They are what a candidate's own tests are run against, and what a question shows of a mistake.
Each mistake is one of the flaws of its assignment, by id.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from importlib import resources

from harness import Flaw, KnownBug, PlainProgram


def plain_program(name: str, flaws: Iterable[Flaw]) -> PlainProgram:
    """Return the plain answer to an assignment, and the mistakes in it that have names."""
    named = {flaw.id: flaw for flaw in flaws}
    folder = resources.files(__name__)
    text = folder.joinpath(f"{name}.py.txt").read_text(encoding="utf-8")
    listed = tomllib.loads(folder.joinpath(f"{name}.toml").read_text(encoding="utf-8"))
    bugs = (_bug(text, named[entry["flaw"]], entry) for entry in listed["bug"])
    return PlainProgram(text=text, bugs=tuple(bugs))


def _bug(text: str, flaw: Flaw, entry: Mapping[str, str]) -> KnownBug:
    before = entry["before"]
    if text.count(before) != 1:
        raise ValueError(f"{flaw.id}: {before!r} is {text.count(before)} times in the program")
    edited = text.replace(before, entry["after"])
    return KnownBug(id=flaw.id, title=flaw.title, stage=flaw.stage, text=edited)
