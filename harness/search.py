"""Searches the flaws that make the reference give what one entry point gave.

The most telling wrong call is tried against every flaw, and only what survives it is tried
against all the others; then pairs of flaws of different parts in the same way, then the
composites that a spec names. A flaw can only be there if all checks failed that it fails.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Final

from harness.calls import Tensor
from harness.candidate import Recorded
from harness.matching import Distance, differ, distance, outputs
from harness.spec import Flaw, Spec
from harness.suspect import Explanation, Suspect, suspect

Fits = Callable[[Explanation], bool]

#: So many pairs are tried on one call, the likeliest first: of up to 1,700 possible ones, the
#: right one was among the first 200 for 259 of 264 pairs that were among the first 400. A try
#: takes 0.05 to 0.25 ms.
TRIES: Final = 200


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The explanations of one entry point's calls, all equally good."""

    explanations: tuple[Explanation, ...]
    calls: int  #: calls that answered
    values: int
    raised: int  #: calls that raised
    unexplained: int  #: of those, calls that should not have
    spec: Spec  #: in the style of the reference in which they explain
    difference: float  #: the largest of any call; NaN where outputs are random
    next: float  #: by how much the nearest other flaw differs; inf when in shapes or NaN


@dataclasses.dataclass(frozen=True, slots=True)
class _Survivor:
    explanation: Explanation
    style: Spec
    unexplained: int  #: calls that raised, and should not have
    fine: bool
    difference: float


class Search:
    """The calls of one entry point, and which flaws give what was recorded.

    ``failed`` are the ids of the checks that failed, ``flaws`` what may be there by itself, and
    ``hindered`` what may be there if another flaw keeps some of its checks from failing.
    """

    def __init__(
        self,
        spec: Spec,
        calls: Sequence[Recorded],
        failed: Collection[str],
        flaws: Sequence[Flaw],
        hindered: Sequence[Flaw] = (),
    ) -> None:
        self._spec = spec
        self._styles = tuple(spec.in_styles())
        self._flaws = [flaw for flaw in flaws if not flaw.is_silent]
        self._hindered = [flaw for flaw in hindered if not flaw.is_silent]
        self._failed = failed
        self._calls = sorted(calls, key=lambda call: (call.check not in failed, call.size))
        self._suspect = suspect(spec, calls, failed)
        self._next = math.inf

    @property
    def is_right(self) -> bool:
        """Whether no call of a failed check is wrong."""
        return self._suspect is None

    @property
    def is_answered_right(self) -> bool:
        """Whether no call is wrong that answered."""
        return self._suspect is None or self._suspect.raised

    def found(self) -> Found | None:
        """Return the smallest sets of flaws that explain every call, or None."""
        first = self._suspect
        if first is None:
            return None
        partial: list[_Survivor] = []
        for candidates, fits in (
            (self._singles, self._noting(first.distance)),
            (self._styled_singles, self._noting(first.least_distance)),
            (self._pairs, first.fits),
            (self._composites, first.fits),
        ):
            survivors = list(self._survivors(first, candidates(first), fits))
            if whole := [one for one in survivors if not one.unexplained]:
                return self._found(whole)
            partial = partial or survivors
        return self._found(partial) if partial else self._shown()

    def _shown(self) -> Found | None:
        """Return the flaws whose outputs are random, and which show in them all the same."""
        showing = [flaw for flaw in self._flaws if flaw.shows]
        answered = [call for call in self._calls if call.answer.raised is None]
        if not showing or not answered:
            return None
        made = self._spec.expect(self._spec.reference)
        pairs = [(call.answer.outs, outputs(call, made)) for call in answered]
        flaws = [flaw for flaw in showing if flaw.shows(pairs)]
        survivors = [_Survivor((flaw,), self._spec, 0, True, math.nan) for flaw in flaws]
        return self._found(survivors) if survivors else None

    def _singles(self, first: Suspect) -> Iterator[Explanation]:
        return ((flaw,) for flaw in self._flaws if first.uses(flaw))

    def _styled_singles(self, first: Suspect) -> Iterator[Explanation]:
        return ((flaw,) for flaw in self._flaws if first.uses(flaw) and first.has_style(flaw))

    def _pairs(self, first: Suspect) -> Iterator[Explanation]:
        """Yield pairs of flaws.

        A flaw that does not change the first wrong call is paired only with flaws that explain
        that call by themselves. None explain outputs that differ between equal calls, and none
        are tried where all that answered is right.
        """
        if first.raised or differ(call for call in self._calls if call.check in self._failed):
            return
        changing = [flaw for flaw in self._flaws if first.uses(flaw) and first.changes(flaw)]
        alone = [flaw for flaw in changing if first.fits((flaw,))]
        later = [flaw for flaw in (*self._flaws, *self._hindered) if flaw not in changing]
        hindered = [flaw for flaw in self._hindered if first.uses(flaw)]
        known = itertools.product(alone, later)
        others = [*itertools.combinations(changing, 2), *itertools.product(changing, hindered)]
        unlike = {flaw: first.unlikeness(flaw) for flaw in {*changing, *hindered}}
        by_both = sorted(others, key=lambda pair: sum(unlike[flaw] for flaw in pair))
        by_one = sorted(others, key=lambda pair: min(unlike[flaw] for flaw in pair))
        likely = dict.fromkeys(itertools.chain.from_iterable(zip(by_both, by_one, strict=True)))
        reported = (flaws for flaws in self._composites(first) if len(flaws) == 2)
        tried: set[frozenset[Flaw]] = set()
        for pair in dict.fromkeys(itertools.chain(reported, known, likely)):
            if _is_pair(*pair) and (len(tried) < TRIES or first.key(pair) in tried):
                tried.add(first.key(pair))
                yield pair

    def _composites(self, first: Suspect) -> Iterator[Explanation]:
        return (flaws for flaws in self._spec.composites if set(flaws) <= set(self._flaws))

    def _noting(self, measure: Callable[[Explanation], Distance]) -> Fits:
        """Return whether the first call is explained, by a measure, and note how far it was not."""

        def fits(explanation: Explanation) -> bool:
            near = measure(explanation)
            if not near.fits:
                self._reject(explanation, near)
            return near.fits

        return fits

    def _survivors(
        self, first: Suspect, candidates: Iterable[Explanation], fits: Fits
    ) -> Iterator[_Survivor]:
        """Yield what explains all calls, if it fits the first.

        After several flaws that explain everything together, only others with one of them are.
        """
        there: set[Flaw] = set()
        for explanation in candidates:
            if there and there.isdisjoint(explanation):
                continue
            if first.raised and not first.raises_alike(explanation):
                continue  # all that answered is right: what is wrong is what was raised
            if fits(explanation) and (survivor := self._explained(explanation)):
                if len(explanation) > 1 and not survivor.unexplained:
                    there.update(explanation)
                yield survivor

    def _explained(self, explanation: Explanation) -> _Survivor | None:
        """Try all calls, in each style of the reference.

        A call that rejects one is tried first on the next: it is likely to reject that, too.
        """
        for style in self._styles:
            made = style.expect(style.with_flaws(*explanation))
            unexplained, fine, difference = 0, True, 0.0
            for place, call in enumerate(self._calls):
                found = distance(call, outputs(call, made))
                if not found.fits and call.answer.raised is not None:
                    unexplained += 1  # by itself it tells nothing
                elif not found.fits and self._is_compared(call):
                    self._reject(explanation, found)
                    self._calls.insert(0, self._calls.pop(place))
                    break
                elif found.fits:
                    fine, difference = fine and found.is_fine, max(difference, found.difference)
            else:
                return _Survivor(explanation, style, unexplained, fine, difference)
        return None

    def _is_compared(self, call: Recorded) -> bool:
        """Tell whether a call counts: not one that passed in another shape than the reference's."""
        if call.check in self._failed:
            return True
        reference = outputs(call, self._spec.expect(self._spec.reference))
        return math.isfinite(distance(call, reference).difference)

    def _reject(self, explanation: Explanation, found: Distance) -> None:
        if len(explanation) == 1:
            self._next = min(self._next, found.difference)

    def _found(self, survivors: Sequence[_Survivor]) -> Found:
        fewest = min(one.unexplained for one in survivors)
        fewer = [one for one in survivors if one.unexplained == fewest]
        best = [one for one in fewer if one.fine] or fewer
        raised = sum(call.answer.raised is not None for call in self._calls)
        return Found(
            explanations=tuple(one.explanation for one in best),
            calls=len(self._calls) - raised,
            values=sum(_size(call) for call in self._calls),
            raised=raised,
            unexplained=best[0].unexplained,
            spec=best[0].style,
            difference=best[0].difference,
            next=self._next,
        )


def _is_pair(first: Flaw, second: Flaw) -> bool:
    """Tell whether two flaws can be there at once, and are not one mistake written in two ways."""
    return first.id != second.id and disjoint((first, second))


def disjoint(flaws: Explanation) -> bool:
    """Tell whether flaws replace different parts."""
    replaced = [part for flaw in flaws for part in flaw.parts]
    return len(replaced) == len(set(replaced))


def _size(call: Recorded) -> int:
    return sum(out.values.size for out in call.answer.outs if isinstance(out, Tensor))
