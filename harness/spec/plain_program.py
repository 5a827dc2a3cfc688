"""A plain right answer to an assignment as source, and known mistakes in it."""

from __future__ import annotations

import dataclasses

from harness.results import Bug, Stage


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class KnownBug:
    """The program with one mistake in it, which is one of the assignment's flaws."""

    id: str
    title: str
    stage: Stage
    text: str  #: source of the whole program

    @property
    def bug(self) -> Bug:
        """Return it as results name it."""
        return Bug(id=self.id, title=self.title, stage=self.stage)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PlainProgram:
    """A right answer that defines all that the brief asks for, and nothing else."""

    text: str
    bugs: tuple[KnownBug, ...]  #: the most common first
