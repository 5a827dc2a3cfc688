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
    text, mistaken = programs(name)
    bugs = (
        KnownBug(id=flaw, title=named[flaw].title, stage=named[flaw].stage, text=edited)
        for flaw, edited in mistaken.items()
    )
    return PlainProgram(text=text, bugs=tuple(bugs))


def programs(name: str) -> tuple[str, Mapping[str, str]]:
    """Return the plain answer to an assignment, and the same with each mistake, by its flaw."""
    folder = resources.files(__name__)
    text = folder.joinpath(f"{name}.py.txt").read_text(encoding="utf-8")
    listed = tomllib.loads(folder.joinpath(f"{name}.toml").read_text(encoding="utf-8"))
    return text, {entry["flaw"]: _edited(text, entry) for entry in listed["bug"]}


def _edited(text: str, entry: Mapping[str, str]) -> str:
    before = entry["before"]
    if text.count(before) != 1:
        raise ValueError(f"{before!r} is {text.count(before)} times in the program, expected once")
    return text.replace(before, entry["after"])
