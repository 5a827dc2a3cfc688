"""Which flaw, or pair of flaws, makes the reference give exactly what the submission gave?

Works from the recording alone. Each entry point is explained by itself: the smallest call that is
wrong is tried against every flaw, and only what survives it is tried against all the others. If
no flaw explains every call, pairs of flaws from different stages are tried in the same way. What
outputs do not show (gradients, dropout, side effects) is explained by a flaw that fails the same
checks in the same way. What cannot be explained is not given a name.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from harness.calls import Tensor
from harness.candidate import Recorded
from harness.matching import Implementation, disagreement, outputs, same, usable
from harness.replay import Replay
from harness.results import CheckResult, Diagnosis, Outcome
from harness.spec import Flaw, Spec

Explanation = tuple[Flaw, ...]

#: Flaws of behaviour that are tried in pairs; each try runs the failed checks again.
PAIRED = 8


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The explanations of one entry point's calls, all equally good."""

    explanations: tuple[Explanation, ...]
    spec: Spec  #: in the style in which they explain
    calls: int
    values: int
    raised: int  #: calls that raised


def diagnose(
    spec: Spec, recording: Sequence[Recorded], checks: Sequence[CheckResult], seed: str
) -> tuple[Diagnosis, ...]:
    """Return one diagnosis for each entry point that is wrong in a known way, and for behaviour.

    A submission that passed every check is given none.
    """
    if all(check.outcome is Outcome.PASSED for check in checks):
        return ()
    found = {}
    unexplained = False
    for point in spec.entry_points:
        calls = [one for one in recording if one.point is point and usable(one)]
        explained = explain(spec, calls) if calls else None
        if explained and explained.explanations:
            found[explained.explanations[0]] = explained
        unexplained |= explained is not None and not explained.explanations
    styled = next((explained.spec for explained in found.values()), spec)
    replay = Replay(styled, checks, seed)
    base = tuple(dict.fromkeys(itertools.chain(*found)))
    calls = [] if unexplained else [one for one in recording if usable(one)]
    if _disjoint(base) and (behaving := _behaviour(styled, replay, base, calls)):
        return behaving
    # Two entry points may share a mistake: what explains more says it for both.
    whole = [one for one in found if not any(set(one) < set(other) for other in found)]
    return tuple(_of_outputs(found[one]) for one in whole)


def _behaviour(
    spec: Spec, replay: Replay, base: Explanation, calls: Sequence[Recorded]
) -> tuple[Diagnosis, ...]:
    """Return a flaw that explains how checks failed, together with those found from outputs.

    It must leave every output as it was explained; without ``calls``, outputs are not explained,
    which only randomness can do.
    """
    if base and replay.agrees(*base):
        return ()

    def fits(flaws: Explanation) -> bool:
        if not _disjoint(flaws):
            return False
        if not any(flaw.random for flaw in flaws):
            made = spec.expect(spec.with_flaws(*flaws))
            if not calls or any(disagreement(call, made) > 1.0 for call in calls):
                return False
        return replay.agrees(*flaws)

    more = [flaw for flaw in replay.candidates if flaw not in base]
    fitting = [(*base, flaw) for flaw in more if fits((*base, flaw))]
    if not fitting and not base:
        pairs = itertools.combinations(more[:PAIRED], 2)
        fitting = [pair for pair in pairs if _composable(*pair) and fits(pair)]
    if not fitting:
        return ()
    evidence = f"it fails the same {len(replay.failed)} checks in the same way"
    return (_describe(tuple(fitting), evidence),)


def explain(spec: Spec, calls: Sequence[Recorded]) -> Found | None:
    """Return the smallest sets of flaws under which the reference gives what was recorded.

    None when the calls are right; no explanations when they are wrong in no known way.
    """
    # Calls that answered first: one that raised tells little, and may be explained by none.
    calls = sorted(calls, key=lambda call: (call.answer.raised is not None, call.size))
    # A submission may compute in float32, or fill with -1e9 where the reference has -inf.
    for coarsely in (False, True):
        searches = [_Search(styled, calls, coarsely) for styled in spec.in_styles()]
        if not all(search.wrong for search in searches):
            return None
        for trying in (_Search.singles, _Search.pairs):
            for search in searches:
                if explanations := trying(search):
                    return search.found(explanations)
    return searches[0].found(())


class _Search:
    """The calls of one entry point, and what is known about each flaw on them."""

    def __init__(self, spec: Spec, calls: Sequence[Recorded], coarsely: bool) -> None:
        self._spec = spec
        self._coarsely = coarsely
        self._calls = calls
        reference = spec.expect(spec.reference)
        self._first = next((call for call in calls if not self._fits(call, reference)), None)

    @property
    def _others(self) -> Iterator[Recorded]:
        """The other calls, the largest first; one that raised must raise, unless all answered."""
        return (call for call in reversed(self._calls) if call is not self._first)

    @property
    def wrong(self) -> bool:
        """Whether any call is wrong."""
        return self._first is not None

    def singles(self) -> tuple[Explanation, ...]:
        """Return every flaw that explains all calls."""
        assert self._first is not None
        return self._survivors((flaw,) for flaw in self._relevant(self._first))

    def pairs(self) -> tuple[Explanation, ...]:
        """Return every pair of flaws from two stages that explains all calls.

        A flaw that does not change the first wrong call is paired only with flaws that explain
        that call by themselves.
        """
        assert self._first is not None
        changing, alone = [], []
        for flaw in self._relevant(self._first):
            if not self._same(self._first, flaw):
                changing.append(flaw)
                if self._fits(self._first, self._made(flaw)):
                    alone.append(flaw)
        later = [flaw for flaw in self._spec.flaws if flaw not in changing]
        candidates = itertools.chain(
            itertools.product(alone, later), itertools.combinations(changing, 2)
        )
        return self._survivors(pair for pair in candidates if _composable(*pair))

    def found(self, explanations: tuple[Explanation, ...]) -> Found:
        """Say how well the explanations fit."""
        raised = sum(call.answer.raised is not None for call in self._calls)
        return Found(
            explanations=explanations,
            spec=self._spec,
            calls=len(self._calls) - raised,
            values=sum(_size(call) for call in self._calls),
            raised=raised,
        )

    def _relevant(self, call: Recorded) -> list[Flaw]:
        """Return the flaws that replace a part which the call uses."""
        used = Used(self._spec.reference)
        disagreement(call, self._spec.expect(used))
        return [flaw for flaw in self._spec.flaws if used.names & flaw.parts.keys()]

    def _survivors(self, candidates: Iterable[Explanation]) -> tuple[Explanation, ...]:
        return tuple(self._filter(candidates))

    def _filter(self, candidates: Iterable[Explanation]) -> Iterator[Explanation]:
        assert self._first is not None
        for explanation in candidates:
            made = self._made(*explanation)
            if self._fits(self._first, made) and all(self._fits(c, made) for c in self._others):
                yield explanation

    def _same(self, call: Recorded, flaw: Flaw) -> bool:
        """Tell whether a flaw leaves a call's outputs as the reference's are."""
        right, flawed = (
            outputs(call, self._spec.expect(parts))
            for parts in (self._spec.reference, self._spec.with_flaws(flaw))
        )
        return right is not None and flawed is not None and same(right, flawed)

    def _made(self, *flaws: Flaw) -> Implementation:
        return self._spec.expect(self._spec.with_flaws(*flaws))

    def _fits(self, call: Recorded, implementation: Implementation) -> bool:
        return disagreement(call, implementation, coarsely=self._coarsely) <= 1.0


class Used(Mapping[str, Any]):
    """Parts that remember which of them were asked for."""

    def __init__(self, parts: Mapping[str, Any]) -> None:
        self._parts = parts
        self.names: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        self.names.add(name)
        return self._parts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)


def _composable(first: Flaw, second: Flaw) -> bool:
    return first.stage is not second.stage and _disjoint((first, second))


def _disjoint(flaws: Explanation) -> bool:
    replaced = [part for flaw in flaws for part in flaw.parts]
    return len(replaced) == len(set(replaced))


def _size(call: Recorded) -> int:
    return sum(out.values.size for out in call.answer.outs if isinstance(out, Tensor))


def _of_outputs(found: Found) -> Diagnosis:
    evidence = f"within rounding, over {found.calls} calls and {found.values:,} values"
    if found.raised:
        evidence += f"; {found.raised} calls raised"
    return _describe(found.explanations, evidence)


def _describe(explanations: tuple[Explanation, ...], evidence: str) -> Diagnosis:
    first, *others = explanations
    title = " and ".join(flaw.title for flaw in first)
    return Diagnosis(
        flaw="+".join(flaw.id for flaw in first),
        title=title,
        stage=first[0].stage,
        stages=tuple(dict.fromkeys(flaw.stage for flaw in first)),
        confidence=f"Your output equals attention with {title} ({evidence}).",
        alternatives=tuple(" and ".join(flaw.title for flaw in other) for other in others),
        question=first[0].question,
        answer=first[0].answer,
    )
