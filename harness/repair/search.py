"""The search for an edit of a submission's own source under which every check passes.

Pure logic: what an edited source does is asked of a ``EditRunner``. Edits are tried one by one, the
most likely first; one that makes failing checks pass is kept and others are tried with it; at
last pairs of the most likely ones are tried. The number of edited sources that run is capped.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Protocol

from harness.parsing import SourceEdit

Edits = tuple[SourceEdit, ...]

ENCODING: Final = (
    "number", "surplus", "operator", "regrouped", "start", "waves", "halves", "angle", "phase",
)  # fmt: skip
#: Words in the ids of checks and flaws -> the kinds of edit that they speak for.
POINTERS: Final[dict[str, tuple[str, ...]]] = {
    "scale": ("scale",),
    "scaled": ("scale", "surplus", "left_out"),
    "root": ("scale", "operator"),
    "softmax": ("axis", "normalised", "unwrapped"),
    "axis": ("axis", "keepdims"),
    "normalise": ("axis", "normalised", "maximum"),
    "stable": ("running", "maximum", "extreme", "axis", "keepdims", "own_softmax"),
    "maximum": ("running", "maximum", "axis", "keepdims", "extreme"),
    "clipped": ("maximum", "own_softmax"),
    "clamped": ("maximum", "own_softmax"),
    "values": ("operand", "inward", "renamed", "before_softmax"),
    "aggregated": ("operand", "room"),
    "score": ("operand", "exchanged", "order", "subscripts"),
    "mask": ("masked", "before_softmax", "kept", "polarity", "fill", "left_out"),
    "masked": ("fill", "masked"),
    "polarity": ("polarity", "operator"),
    "inverted": ("polarity", "operator"),
    "transposed": ("order", "unwrapped"),
    "reshape": ("order", "shape", "unwrapped"),
    "swapped": ("polarity", "operator", "exchanged", "order"),
    "fill": ("fill",),
    "value": ("fill",),
    "row": ("fill", "condition"),
    "broadcast": ("broadcast", "masked", "left_out", "unwrapped", "index"),
    "additive": ("masked", "operator"),
    "float": ("masked", "operator"),
    "half": ("masked", "fill", "surplus"),
    "causal": ("triangle", "bound", "causal", "left_out", "polarity", "operator"),
    "unmasked": ("causal", "bound"),
    "aligned": ("bound", "causal"),
    "single": ("causal",),
    "cache": ("exchanged", "sequence", "passed_in"),
    "held": ("operand", "sequence", "passed_in"),
    "stale": ("passed_in",),
    "padding": ("operator", "bound", "index", "left_out", "surplus", "unwrapped"),
    "dropout": ("dropout", "flag", "surplus", "condition", "left_out"),
    "gradients": ("unwrapped", "decorator", "in_place", "masked"),
    "dtype": ("unwrapped", "left_out", "scale"),
    "inputs": ("in_place", "copied"),
    "untouched": ("in_place", "copied"),
    "determinism": ("left_out", "condition", "dropout"),
    "permutation": ("left_out", "condition", "surplus"),
    "shape": ("unwrapped", "size", "room", "order", "outputs", "exchanged", "operand"),
    "split": ("order", "shape", "heads", "guard"),
    "merge": ("order", "shape", "heads"),
    "heads": ("order", "shape", "heads", "unwrapped", "left_out"),
    "rotary": ("alternating", "helper", "operator", "waves", "start", "surplus", "turned"),
    "alibi": ("operator", "surplus", "start", "slopes"),
    "halves": ("halves", "alternating"),
    "block": ("rescaled", "growing", "bound", "slices"),
    "blocks": ("rescaled", "growing", "bound", "slices"),
    "rescaled": ("rescaled", "growing"),
    "online": ("rescaled", "growing", "bound", "slices"),
    "ragged": ("room", "bound", "slices", "condition"),
    "head": ("order", "shape", "size"),
    "project": ("own_layer", "layer"),
    "projection": ("layer", "own_layer", "after_heads", "hoisted", "registered", "left_out"),
    "projections": ("layer", "own_layer", "hoisted", "registered", "surplus", "operand"),
    "parameters": ("registered", "hoisted"),
    "trainable": ("registered", "hoisted"),
    "cross": ("layer", "size", "condition"),
    "independent": ("axis", "order", "unwrapped", "index"),
    "kv": ("surplus", "order", "left_out", "causal", "exchanged", "operand", "bound", "passed_in"),
    "residual": ("residual", "norm_first", "surplus", "layer", "normed"),
    "norm": ("normed", "norm_first", "residual", "layer", "hoisted", "own_layer", "idle_part"),
    "activation": ("activation",),
    "relu": ("activation",),
    "feed": ("idle_part", "activation", "normed", "residual"),
    "replaces": ("causal", "condition"),
    "encoding": ENCODING,
    "pe": (*ENCODING, "exchanged"),
}
#: What a kind that nothing points to has, beside one that everything points to.
_UNPOINTED: Final = 0.25
#: Kinds that are many and often right by accident only.
_DOUBTFUL: Final = {
    "size": 0.4, "slices": 0.4, "renamed": 0.5, "exchanged": 0.6, "sequence": 0.4,
    "copied": 0.6, "index": 0.7,
}  # fmt: skip
#: How much likelier an edit is in a statement that is diagnosed, or in a line that raised.
_SUSPECTED: Final = 3.0
#: Share of the budget after which no more single edits are tried.
_SINGLES: Final = 0.75
#: Edits tried with one that helped, and most edits together.
_FOLLOWERS: Final = 30
_TOGETHER: Final = 3


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class FailureFacts:
    """What is known about a failure."""

    failing: tuple[str, ...]  #: ids of the failing checks
    passing: tuple[str, ...] = ()  #: ids of some that pass, and should go on to
    stages: tuple[str, ...] = ()  #: words from the diagnosis: ids of flaws, and their stages
    #: for each entry that was asked for, the share of the failing checks that use it
    shares: tuple[float, ...] = ()
    #: first byte, and byte after the last, of the lines in which failing checks made it raise
    raised: tuple[tuple[int, int], ...] = ()

    def without(self, passed: Iterable[str]) -> FailureFacts:
        """Return what is left when some checks pass; the diagnosis is spent."""
        left = tuple(check for check in self.failing if check not in {*passed})
        return dataclasses.replace(self, failing=left, stages=(), raised=())

    def cost(self, edit: SourceEdit) -> float:
        """Return how late to try an edit."""
        pointing = sum(_points(check, edit.kind) for check in self.failing)
        weight = _UNPOINTED + pointing / max(len(self.failing), 1)
        weight += 2.0 * any(_points(word, edit.kind) for word in self.stages)
        if {*itertools.chain(*map(_words, self.stages))} & {*edit.about}:
            weight *= _SUSPECTED
        spans = itertools.product(edit.changes, self.raised)
        if any(start <= last and first < end for (start, end, _), (first, last) in spans):
            weight *= _SUSPECTED
        used = [self.shares[place] for place in edit.entries if place < len(self.shares)]
        weight *= _DOUBTFUL.get(edit.kind, 1.0) * max(used, default=0.5)
        return (edit.place + 1) / weight


def _points(words: str, kind: str) -> bool:
    return any(kind in POINTERS.get(word, ()) for word in _words(words))


def _words(identifier: str) -> list[str]:
    return identifier.replace("+", "-").split("-")


class EditRunner(Protocol):
    """Where edited sources are run."""

    def passes(self, edits: Edits, checks: Sequence[str]) -> frozenset[str]:
        """Run the checks on the edited source and return those that pass, at least the first few.

        Raises:
            OutOfTime: there is no time for it.
        """

    def proves(self, edits: Edits) -> bool:
        """Run everything on the edited source, as on any submission; tell whether all passes."""


class OutOfTime(Exception):
    """The time is spent."""


class OutOfRuns(Exception):
    """The number of runs is spent."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class EditsFound:
    """Edits that repair, and how many runs it took."""

    edits: Edits
    runs: int


class EditSearch:
    """One search, with a budget of runs."""

    def __init__(
        self, edits: Sequence[SourceEdit], facts: FailureFacts, runner: EditRunner
    ) -> None:
        self._edits = _distinct(edits, facts)
        self._failure_facts = facts
        self._runner = runner
        self._left = 0
        self.is_finished = True  #: False once time ran out
        self._tried: set[frozenset[tuple[int, int, str]]] = set()
        self.runs = 0

    def run(self, budget: int) -> EditsFound | None:
        """Return the first edits found under which everything passes."""
        self._left = budget
        try:
            edits = next(self._repairs(budget), None)
        except OutOfRuns:
            return None
        except OutOfTime:
            self.is_finished = False
            return None
        return None if edits is None else EditsFound(edits=edits, runs=self.runs)

    def _repairs(self, budget: int) -> Iterator[Edits]:
        helpful: list[tuple[int, Edits, frozenset[str]]] = []
        ranked = self._ranked(self._failure_facts)
        for edit in ranked[: int(budget * _SINGLES)]:
            passed = self._attempt((edit,))
            if passed >= {*self._failure_facts.failing}:
                if self._proves((edit,)):
                    yield (edit,)
            elif 2 * len(passed) > len(self._failure_facts.failing) and self._harmless((edit,)):
                yield from self._followed((edit,), passed)
            elif passed:
                helpful.append((-len(passed), (edit,), passed))
        for _, edits, passed in sorted(helpful, key=lambda one: one[0]):
            if self._harmless(edits):
                yield from self._followed(edits, passed)
        yield from self._pairs(ranked)

    def _followed(self, edits: Edits, passed: frozenset[str]) -> Iterator[Edits]:
        """Keep what helped, and try what speaks for the checks that still fail."""
        left = self._failure_facts.without(passed)
        followers = [edit for edit in self._ranked(left) if _apart((*edits, edit))]
        for follower in followers[:_FOLLOWERS]:
            more = (*edits, follower)
            now = self._attempt(more)
            if now >= {*self._failure_facts.failing}:
                if self._proves(more):
                    yield more
            elif now > passed and len(more) < _TOGETHER:
                yield from self._followed(more, now)

    def _pairs(self, ranked: Sequence[SourceEdit]) -> Iterator[Edits]:
        """Try pairs, those of the most likely edits first."""
        for last in range(1, len(ranked)):
            for first in range(last):
                pair = (ranked[first], ranked[last])
                helps = _apart(pair) and self._attempt(pair) >= {*self._failure_facts.failing}
                if helps and self._proves(pair):
                    yield pair

    def _ranked(self, facts: FailureFacts) -> list[SourceEdit]:
        return sorted(self._edits, key=facts.cost)

    def _attempt(self, edits: Edits) -> frozenset[str]:
        """Run the failing checks on an edited source, once."""
        what = frozenset(itertools.chain(*(edit.changes for edit in edits)))
        if what in self._tried:
            return frozenset()
        self._tried.add(what)
        self._spend()
        return self._runner.passes(edits, self._failure_facts.failing)

    def _harmless(self, edits: Edits) -> bool:
        """Tell whether what passed still does: without attention, say, no mask is wrong."""
        if not (passing := self._failure_facts.passing):
            return True
        self._spend()
        return self._runner.passes(edits, passing) >= {*passing}

    def _proves(self, edits: Edits) -> bool:
        self._spend()
        return self._runner.proves(edits)

    def _spend(self) -> None:
        if self.runs >= self._left:
            raise OutOfRuns
        self.runs += 1


def _distinct(edits: Sequence[SourceEdit], facts: FailureFacts) -> list[SourceEdit]:
    """Keep the likeliest of the edits that are the same change; the order stays."""
    likeliest = {edit.changes: edit for edit in sorted(edits, key=facts.cost, reverse=True)}
    return [edit for edit in edits if likeliest[edit.changes] is edit]


def _apart(edits: Edits) -> bool:
    """Tell whether no two of the edits touch the same place."""
    spans = sorted((first, end) for edit in edits for first, end, _ in edit.changes)
    return all(one[1] < other[0] for one, other in itertools.pairwise(spans))


def applied(edits: Edits, source: bytes) -> bytes:
    """Return the source with the edits made, from the last place to the first."""
    changes = sorted((change for edit in edits for change in edit.changes), reverse=True)
    for first, end, text in changes:
        source = source[:first] + text.encode() + source[end:]
    return source
