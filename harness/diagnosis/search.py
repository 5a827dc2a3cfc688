"""Searches the flaws that make the reference give what one entry point gave.

The most telling wrong call is tried against every flaw, and only what survives it is tried
against all the others; then pairs of flaws of different parts in the same way, then the
composites that a spec names. What explains that call alone is tried with flaws that change only
other calls. A flaw can only be there if all checks failed that it fails.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Final

from harness.candidate import Recorded
from harness.diagnosis.all_calls import AllCalls, Survivor
from harness.diagnosis.distance import REFUSALS, Distance, differ, outputs
from harness.diagnosis.first_wrong_call import (
    Explanation,
    FirstWrongCall,
    most_informative_wrong_call,
)
from harness.diagnosis.pairs import Alike, likeliest
from harness.protocol import Tensor
from harness.spec import Flaw, Spec, disjoint

#: So many flaws are tried with what explains the first wrong call; each takes 0.1 to 0.4 ms.
MAX_EXTENSIONS: Final = 100

Fits = Callable[[Explanation], bool]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """The explanations of one entry point's calls, all equally good."""

    explanations: tuple[Explanation, ...]
    calls: int  #: calls that answered
    values: int
    raised: int  #: calls that raised
    unexplained: int  #: of those, calls that should not have
    spec: Spec  #: in the style of the reference in which they explain
    difference: float  #: the largest of any call; NaN where outputs are random
    next: float  #: by how much the nearest other flaw differs; inf when in shapes or NaN


class FlawSearch:
    """The calls of one entry point, and which flaws give what was recorded.

    ``failed`` are the ids of the checks that failed, ``flaws`` what may be there by itself, and
    ``masked_flaws`` what may be there if another flaw keeps some of its checks from failing.
    """

    def __init__(
        self,
        spec: Spec,
        calls: Sequence[Recorded],
        failed: Collection[str],
        flaws: Sequence[Flaw],
        masked_flaws: Sequence[Flaw] = (),
    ) -> None:
        self._spec = spec
        self._flaws = [flaw for flaw in flaws if not flaw.is_silent]
        self._masked_flaws = [flaw for flaw in masked_flaws if not flaw.is_silent]
        self._failed = failed
        self._calls = calls
        self._first = most_informative_wrong_call(spec, calls, failed)
        self._all_calls = AllCalls(spec, calls, failed)
        self._near: list[Explanation] = []  #: what fits the first call

    @property
    def is_right(self) -> bool:
        """Whether no call of a failed check is wrong."""
        return self._first is None

    @property
    def is_answered_right(self) -> bool:
        """Whether no call is wrong that answered."""
        return self._first is None or self._first.raised

    @property
    def is_refused(self) -> bool:
        """Whether what is wrong is that something was used which the assignment does not have."""
        raised = self._first.call.answer.raised if self._first is not None else None
        return raised is not None and raised.kind in REFUSALS

    @functools.cached_property
    def _may_be_several(self) -> bool:
        """Whether flaws may be there together.

        None explain outputs that differ between equal calls, and none are tried where all that
        answered is right.
        """
        wrong = (call for call in self._calls if call.check in self._failed)
        return not self.is_answered_right and not differ(wrong)

    def found(self) -> SearchResult | None:
        """Return the smallest sets of flaws that explain every call, or None."""
        first = self._first
        if first is None:
            return None
        partial: list[Survivor] = []
        for stage in (
            self._survivors(first, self._singles(first), self._noting(first.distance)),
            self._survivors(first, self._styled_singles(first), self._noting(first.least_distance)),
            self._extended(first, 2),
            self._survivors(first, self._pairs(first), first.fits),
            self._extended(first, 3),
            self._survivors(first, self._composites(first), first.fits),
        ):
            survivors = list(stage)
            if whole := [one for one in survivors if not one.unexplained]:
                return self._found(whole)
            if partial := partial or survivors:
                self._all_calls.most = 0  # what follows only counts if it explains everything
        return self._found(partial) if partial else self._shown()

    def _shown(self) -> SearchResult | None:
        """Return the flaws whose outputs are random, and which show in them all the same."""
        showing = [(flaw, flaw.shows) for flaw in self._flaws if flaw.shows]
        answered = [call for call in self._calls if call.answer.raised is None]
        if not showing or not answered:
            return None
        made = self._spec.expect(self._spec.reference)
        pairs = [(call.answer.outs, outputs(call, made)) for call in answered]
        flaws = [flaw for flaw, shows in showing if shows(pairs)]
        survivors = [Survivor((flaw,), self._spec, 0, True, math.nan) for flaw in flaws]
        return self._found(survivors) if survivors else None

    def _singles(self, first: FirstWrongCall) -> Iterator[Alike]:
        return ([(flaw,)] for flaw in self._flaws if first.uses(flaw))

    def _styled_singles(self, first: FirstWrongCall) -> Iterator[Alike]:
        return ([(flaw,)] for flaw in self._flaws if first.uses(flaw) and first.has_style(flaw))

    def _pairs(self, first: FirstWrongCall) -> Iterator[Alike]:
        if self._may_be_several:
            reported = (flaws for (flaws,) in self._composites(first) if len(flaws) == 2)
            yield from likeliest(first, self._flaws, self._masked_flaws, reported)

    def _extended(self, first: FirstWrongCall, size: int) -> Iterator[Survivor]:
        """Yield what explains all calls: what fits the first, with more flaws up to this size.

        These change only others, and one at a time: each must fit the call that asked for it.
        """
        if self._may_be_several:
            later = [f for f in (*self._flaws, *self._masked_flaws) if not first.changes(f)]
            near = sorted(dict.fromkeys(self._near), key=len, reverse=True)
            yield from self._extensions(near, later, size, iter(range(MAX_EXTENSIONS)))

    def _extensions(
        self,
        explanations: Iterable[Explanation],
        later: Sequence[Flaw],
        size: int,
        tries: Iterator[int],
    ) -> Iterator[Survivor]:
        for explanation in explanations:
            for survivor in self._extensions_of_one(explanation, later, size, tries):
                yield survivor
                # What explains everything as well has the same flaws of other calls.
                later = [flaw for flaw in later if flaw in survivor.explanation]
                tries = iter(range(MAX_EXTENSIONS))

    def _extensions_of_one(
        self, explanation: Explanation, later: Sequence[Flaw], size: int, tries: Iterator[int]
    ) -> Iterator[Survivor]:
        survivor = self._all_calls.of(explanation)
        if survivor is not None:
            yield survivor
        elif len(explanation) < size:
            call = self._all_calls.rejecting
            more = ((*explanation, flaw) for _, flaw in zip(tries, later, strict=False))
            fitting = [one for one in more if disjoint(one) and self._all_calls.of_call(call, one)]
            yield from self._extensions(fitting, later, size, tries)

    def _composites(self, first: FirstWrongCall) -> Iterator[Alike]:
        return ([flaws] for flaws in self._spec.composites if set(flaws) <= set(self._flaws))

    def _noting(self, measure: Callable[[Explanation], Distance]) -> Fits:
        """Tell by a measure if a flaw explains the first call; note how far off it is if not."""

        def fits(explanation: Explanation) -> bool:
            near = measure(explanation)
            if not near.fits:
                self._all_calls.reject(explanation, near)
            return near.fits

        return fits

    def _survivors(
        self, first: FirstWrongCall, candidates: Iterable[Alike], fits: Fits
    ) -> Iterator[Survivor]:
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
            fitting = alike if fits(one) else ()
            self._near += fitting
            for survivor in filter(None, map(self._all_calls.of, fitting)):
                if len(one) > 1 and not survivor.unexplained:
                    there.update(survivor.explanation)
                yield survivor

    def _found(self, survivors: Sequence[Survivor]) -> SearchResult:
        fewest = min(one.unexplained for one in survivors)
        fewer = [one for one in survivors if one.unexplained == fewest]
        best = [one for one in fewer if one.fine] or fewer
        raised = sum(call.answer.raised is not None for call in self._calls)
        return SearchResult(
            explanations=tuple(one.explanation for one in best),
            calls=len(self._calls) - raised,
            values=sum(_size(call) for call in self._calls),
            raised=raised,
            unexplained=best[0].unexplained,
            spec=best[0].style,
            difference=best[0].difference,
            next=self._all_calls.next,
        )


def _size(call: Recorded) -> int:
    return sum(out.values.size for out in call.answer.outs if isinstance(out, Tensor))
