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

from harness.calls import Tensor
from harness.candidate import Recorded
from harness.matching import Distance, differ, distance, outputs
from harness.pairs import Alike, likeliest
from harness.spec import Flaw, Spec
from harness.suspect import Explanation, Suspect, suspect

Fits = Callable[[Explanation], bool]


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
        self._most = math.inf
        self._alone: list[Flaw] = []

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
            if partial := partial or survivors:
                self._most = 0  # what follows only counts if it explains everything
        return self._found(partial) if partial else self._shown()

    def _shown(self) -> Found | None:
        """Return the flaws whose outputs are random, and which show in them all the same."""
        showing = [(flaw, flaw.shows) for flaw in self._flaws if flaw.shows]
        answered = [call for call in self._calls if call.answer.raised is None]
        if not showing or not answered:
            return None
        made = self._spec.expect(self._spec.reference)
        pairs = [(call.answer.outs, outputs(call, made)) for call in answered]
        flaws = [flaw for flaw, shows in showing if shows(pairs)]
        survivors = [_Survivor((flaw,), self._spec, 0, True, math.nan) for flaw in flaws]
        return self._found(survivors) if survivors else None

    def _singles(self, first: Suspect) -> Iterator[Alike]:
        return ([(flaw,)] for flaw in self._flaws if first.uses(flaw))

    def _styled_singles(self, first: Suspect) -> Iterator[Alike]:
        return ([(flaw,)] for flaw in self._flaws if first.uses(flaw) and first.has_style(flaw))

    def _pairs(self, first: Suspect) -> Iterator[Alike]:
        """Yield pairs of flaws.

        None explain outputs that differ between equal calls, and none are tried where all that
        answered is right.
        """
        if first.raised or differ(call for call in self._calls if call.check in self._failed):
            return
        reported = (flaws for (flaws,) in self._composites(first) if len(flaws) == 2)
        yield from likeliest(first, self._flaws, self._hindered, self._alone, reported)

    def _composites(self, first: Suspect) -> Iterator[Alike]:
        return ([flaws] for flaws in self._spec.composites if set(flaws) <= set(self._flaws))

    def _noting(self, measure: Callable[[Explanation], Distance]) -> Fits:
        """Tell by a measure if a flaw explains the first call; note which, or how far off."""

        def fits(explanation: Explanation) -> bool:
            near = measure(explanation)
            if near.fits:
                self._alone += explanation
            else:
                self._reject(explanation, near)
            return near.fits

        return fits

    def _survivors(
        self, first: Suspect, candidates: Iterable[Alike], fits: Fits
    ) -> Iterator[_Survivor]:
        """Yield what explains all calls, of those that are alike on the first and fit it.

        After several flaws that explain everything together, only others with one of them are.
        """
        there: set[Flaw] = set()
        for alike in candidates:
            one = alike[0]
            if there and there.isdisjoint(itertools.chain.from_iterable(alike)):
                continue
            if first.raised and not first.raises_alike(one):
                continue  # all that answered is right: what is wrong is what was raised
            for survivor in filter(None, map(self._explained, alike if fits(one) else ())):
                if len(one) > 1 and not survivor.unexplained:
                    there.update(survivor.explanation)
                yield survivor

    def _explained(self, explanation: Explanation) -> _Survivor | None:
        """Try all calls, in each style of the reference.

        A call that raised tells nothing by itself, but the fewest that are unexplained are best.
        One that rejects an explanation is tried first on the next: it may well reject that, too.
        """
        for style in self._styles:
            made = style.expect(style.with_flaws(*explanation))
            unexplained, fine, difference = 0, True, 0.0
            for place, call in enumerate(self._calls):
                found = distance(call, outputs(call, made))
                if found.fits:
                    fine, difference = fine and found.is_fine, max(difference, found.difference)
                    continue
                unexplained += call.answer.raised is not None
                if unexplained > self._most or self._is_compared(call):
                    self._reject(explanation, found)
                    self._calls.insert(0, self._calls.pop(place))
                    break
            else:
                self._most = min(self._most, unexplained)
                return _Survivor(explanation, style, unexplained, fine, difference)
        return None

    def _is_compared(self, call: Recorded) -> bool:
        """Tell whether a call counts: not one that passed in another shape than the reference's."""
        if call.answer.raised is not None:
            return False
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


def _size(call: Recorded) -> int:
    return sum(out.values.size for out in call.answer.outs if isinstance(out, Tensor))
