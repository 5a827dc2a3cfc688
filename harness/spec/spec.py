"""A spec as a value: brief, entry points, checks, reference parts and flaws.

Everything below the composition roots is handed one of these and knows no assignment by name.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from harness.errors import SpecError
from harness.results import LEVELS, FollowUp, Level, Points, Question, Stage
from harness.spec.comparison import Expected
from harness.spec.criteria import Check
from harness.spec.draw import Draw
from harness.spec.plain_program import PlainProgram

#: Name of a part of the reference -> the function that does it.
Parts = Mapping[str, Callable[..., Any]]


def as_they_are(points: Mapping[str, Any]) -> Mapping[str, Any]:
    """Let criteria talk to the entry points themselves."""
    return points


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class EntryPoint:
    """A function or class that the brief asks for."""

    role: str  #: what criteria call it, e.g. "attention"
    name: str  #: what the brief calls it
    parameters: tuple[str, ...]
    returns: tuple[str, ...]  #: names of the outputs, in order
    headed: bool = False  #: arrays have a dimension of heads
    optional: int = 0  #: so many of the last parameters have a default
    constructor: tuple[str, ...] = ()  #: parameters of a class
    sizes: tuple[int, ...] = ()  #: arguments of the constructor, so that a swap of two shows
    blocking: bool = False  #: True in a mask means "blocked"
    #: letters of b, h, q, k and 1 for each shape of masks that the brief names, the whole last
    mask_shapes: tuple[str, ...] = ()
    #: position of a parameter -> what it is given when conventions are tried
    fixed: Mapping[int, Any] = dataclasses.field(default_factory=dict)
    aliases: tuple[str, ...] = ()  #: what others call it
    #: other orders of the columns of its output -> how to put them in the brief's
    variants: Mapping[str, Callable[[Any], Any]] = dataclasses.field(default_factory=dict)
    example: tuple[Any, ...] = ()  #: arguments that tell the variants apart

    @property
    def is_core(self) -> bool:
        """Whether this is the attention, without which there is nothing to grade."""
        return self.role in ("attention", "attention_in_blocks", "layer")

    @property
    def required(self) -> tuple[str, ...]:
        """The parameters without a default."""
        return self.parameters[: len(self.parameters) - self.optional]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Flaw:
    """A known mistake: a named replacement of parts that belong to one stage."""

    id: str
    title: str  #: completes "the output equals attention with …"
    stage: Stage
    parts: Parts
    caught_by: tuple[str, ...]  #: ids of the checks that fail, at least
    also: tuple[Parts, ...] = ()  #: other ways of writing the same mistake
    random: bool = False  #: its outputs differ from call to call
    hidden: bool = False  #: no output shows it
    is_trivial: bool = False  #: an answer that computes no attention: nothing is earned by it
    #: (answered, expected) of calls -> whether it shows in outputs, though they are random
    shows: Callable[[Sequence[tuple[Any, Any]]], bool] | None = None
    question: str = ""  #: what an interviewer can ask next
    answer: str = ""  #: what a good answer contains

    def spellings(self) -> Iterator[Flaw]:
        """Yield the mistake in each of the ways in which it is written."""
        yield self
        for parts in self.also:
            yield dataclasses.replace(self, parts=parts, also=())

    @property
    def is_silent(self) -> bool:
        """Whether outputs cannot tell it: none shows it, or those that do are random."""
        return self.hidden or (self.random and self.shows is None)


def disjoint(flaws: Iterable[Flaw]) -> bool:
    """Tell whether flaws replace different parts."""
    replaced = [part for flaw in flaws for part in flaw.parts]
    return len(replaced) == len(set(replaced))


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Forms:
    """How forms of an assignment differ: in their questions, and in the numbers in them."""

    #: (numbers of questions, or how many to draw; seed) -> the assignment with these questions
    draw: Callable[[Sequence[str] | int, str], Spec]
    #: a form that was handed in -> the assignment that it was drawn from
    read: Callable[[str], Spec]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """One assignment."""

    name: str
    title: str
    brief: str  #: Markdown; what the candidate is asked
    arrays: str  #: what arguments are made of: "numpy" or "torch"
    image: str  #: sandbox image: "numpy" or "torch"; "text" for written answers, which do not run
    entry_points: tuple[EntryPoint, ...]
    checks: tuple[Check, ...]
    reference: Parts
    flaws: tuple[Flaw, ...]
    #: parts -> entry points by name, in the candidate's own kind of arrays
    assemble: Callable[[Parts], Mapping[str, Callable[..., Any]]]
    #: parts -> entry points by name, which take float64 arrays and return one Expected per output
    expect: Callable[[Parts], Mapping[str, Callable[..., tuple[Expected, ...]]]]
    #: what criteria may ask for by name besides entry points, e.g. the cases they draw
    fixtures: Callable[[Draw], Mapping[str, object]]
    starter: str  #: the file that ``takehome start`` writes
    #: entry points by role -> roles by name, for criteria that are written for another interface
    roles: Callable[[Mapping[str, Any]], Mapping[str, Any]] = as_they_are
    questions: tuple[Question, ...] = ()  #: of written answers; their fields blank
    next_questions: tuple[FollowUp, ...] = ()  #: what to ask about an answer that is right
    forms: Forms | None = None  #: of written answers
    #: fields of written answers whose fenced code is run -> the assignment that grades it
    code_fields: Mapping[str, str] = dataclasses.field(default_factory=dict)
    #: parts as right as the reference's, which differ from it only where no criterion looks
    styles: tuple[Parts, ...] = ()
    #: flaws that are known to come together, more than two or of one stage
    composites: tuple[tuple[Flaw, ...], ...] = ()
    plain: PlainProgram | None = None  #: what a candidate's own tests are run against
    blocks_fused: bool = False  #: torch's fused attention calls raise

    def with_flaws(self, *flaws: Flaw) -> Parts:
        """Return the reference's parts with those of the flaws in their place.

        Raises:
            SpecError: two of the flaws replace the same part.
        """
        parts = dict(self.reference)
        replaced: set[str] = set()
        for flaw in flaws:
            if clash := replaced & flaw.parts.keys():
                raise SpecError(f"flaws replace {sorted(clash)} twice")
            replaced |= flaw.parts.keys()
            parts.update(flaw.parts)
        return MappingProxyType(parts)

    def in_styles(self) -> Iterator[Spec]:
        """Yield the spec, and again with its reference written in each of the styles."""
        yield self
        for style in self.styles:
            yield dataclasses.replace(self, reference={**self.reference, **style})

    def only(self, names: frozenset[str]) -> Spec:
        """Return the spec with the checks that need no other entry points than these."""
        absent = {point.role for point in self.entry_points if point.name not in names}
        kept = (check for check in self.checks if not absent & set(check.criterion.needs))
        return dataclasses.replace(self, checks=tuple(kept))

    @property
    def decisive_seeds(self) -> tuple[str, ...]:
        """Seeds of the inputs by which a borderline error is decided, whatever the run's seed is.

        Several, since one may have no input on which the error shows.
        """
        return tuple(f"{self.name}, decisive {place}" for place in range(3))

    @property
    def asked(self) -> tuple[frozenset[str], ...]:
        """Names by which an answer is recognised, the surest first."""
        names = frozenset(point.name for point in self.entry_points)
        core = (point.aliases for point in self.entry_points if point.is_core)
        return names, frozenset(alias for aliases in core for alias in aliases)

    @property
    def is_written(self) -> bool:
        """Whether answers are text, which does not run."""
        return self.image == "text"

    @property
    def file_name(self) -> str:
        """What the file is called that a candidate fills in."""
        return f"{self.name}.{'md' if self.questions else 'py'}"

    @property
    def possible(self) -> Points:
        """Points of a right answer."""
        return sum(check.points for check in self.checks)

    @property
    def top_level(self) -> Level:
        """The highest level that has checks here."""
        return max((check.level for check in self.checks), key=LEVELS.index)
