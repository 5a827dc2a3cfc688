"""The words a spec is written in: a criterion, and the check that a spec makes of it.

A criterion is a plain function about one property. Its parameters name what it needs: roles of
the submission's entry points (``attention``), ``cases`` or ``draw`` for inputs, ``judge`` for
comparisons. The first line of its docstring is its title, a statement that is true of a right
answer; the rest says why. A spec says at which level it counts, and for how many points:
``definition.at(Level.PASS, points=6)``.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable

from harness.errors import SpecError
from harness.results import Facet, Level, Points, Stage

Body = Callable[..., None]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """One property that a right answer has."""

    id: str
    title: str
    why: str
    facet: Facet
    stage: Stage | None  #: the one stage it looks at, if it looks at one only
    hint: str  #: the remedy; the ``message`` of a result is the fact
    question: str  #: what an interviewer can ask when it fails and no bug has a name
    answer: str  #: what a good answer contains
    earns_with: str  #: id of the check without which this one earns nothing, or ""
    needs: tuple[str, ...]
    body: Body
    of_torch: bool = False  #: nothing but torch has it: gradients, and formats of its own

    def at(self, level: Level, *, points: Points, earns_with: str | None = None) -> Check:
        """Make a check of this criterion.

        ``earns_with`` names the spec's own core check where it is not the criterion's.
        """
        core = self.earns_with if earns_with is None else earns_with
        return Check(criterion=self, level=level, points=points, earns_with=core)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A criterion as one spec counts it."""

    criterion: Criterion
    level: Level
    points: Points
    earns_with: str  #: id of the check without which this one earns nothing here, or ""

    @property
    def id(self) -> str:
        """The criterion's id, the same in every spec."""
        return self.criterion.id


def criterion(
    *,
    facet: Facet,
    hint: str,
    stage: Stage | None = None,
    earns_with: str = "",
    question: str = "",
    answer: str = "",
    of_torch: bool = False,
) -> Callable[[Body], Criterion]:
    """Make a criterion of the decorated function; its name is the criterion's id.

    ``earns_with`` names the check that must pass too before points are earned: a property that
    zeros or V have as well is no credit by itself. ``stage`` is left out where a mistake in any
    stage would fail the criterion: such a failure tells nothing about where the mistake is.

    Raises:
        SpecError: the function has no docstring.
    """

    def make(body: Body) -> Criterion:
        identifier = body.__name__.replace("_", "-")
        title, _, why = (inspect.getdoc(body) or "").partition("\n")
        if not title:
            raise SpecError(f"criterion {identifier} has no docstring; its first line is the title")
        return Criterion(
            id=identifier,
            title=title,
            why=why.strip(),
            facet=facet,
            stage=stage,
            hint=hint,
            question=question,
            answer=answer,
            earns_with=earns_with,
            needs=tuple(inspect.signature(body).parameters),
            body=body,
            of_torch=of_torch,
        )

    return make
