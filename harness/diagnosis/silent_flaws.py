"""Which flaws that no output shows are there, besides those that explain the outputs?

Told by the way in which checks fail: they run again against the reference with these flaws.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from harness.candidate import Recorded
from harness.diagnosis.distance import distance, outputs, raised_alike
from harness.diagnosis.first_wrong_call import Explanation
from harness.diagnosis.replayed_checks import Replay
from harness.spec import Flaw, Spec, disjoint

#: So many flaws are tried; each try runs failed checks again.
MOST: Final = 16
#: So many of them are found together.
TOGETHER: Final = 2


class SilentMatch(NamedTuple):
    """The flaws of outputs with others that no output shows, all equally good."""

    explanations: Sequence[Explanation]
    checks: int  #: failed checks that were run again, and ended as they did


class SilentFlaws:
    """Flaws that no output shows, besides those that explain the outputs."""

    def __init__(
        self,
        spec: Spec,
        replay: Replay,
        base: Explanation,
        flaws: Sequence[Flaw],
        calls: Sequence[Recorded],
        unnamed: Sequence[Recorded],
    ) -> None:
        self._spec = spec  #: in the style in which ``base`` explains the outputs
        self._replay = replay
        self._base = base
        self._is_random = any(flaw.random for flaw in base)
        self._flaws = flaws
        answered = [call for call in calls if call.answer.raised is None]
        self._calls = sorted(answered, key=lambda call: -call.size)
        self._sample = {call.check: call for call in self._calls}.values()
        #: Calls of entry points that are right, though ``base`` could be there as well.
        self._unnamed = [call for call in unnamed if call.answer.raised is None]
        self._raised = next((call for call in calls if call.answer.raised is not None), None)

    def find(self) -> SilentMatch | None:
        """Return the flaws of outputs with the fewest others for which checks fail as they did.

        None where no call answered, or where those of outputs account for the checks.
        """
        if not self._calls:
            return None
        base, replay = self._base, self._replay
        unsaid = [flaw for flaw in self._flaws if self._checks_not_accounted_for(flaw)]
        if base:
            more = [flaw for flaw in unsaid if flaw.is_silent and disjoint((*base, flaw))][:MOST]
        else:
            raising = [flaw for flaw in unsaid if self._raises(flaw)]
            more = [flaw for flaw in raising if self._reproduces_recording((flaw,), self._sample)][
                :MOST
            ]
        checks = (
            frozenset().union(*map(self._checks_not_accounted_for, more)) if base else replay.failed
        )
        for most in range(TOGETHER + 1):
            sets = {frozenset(one): one for one in self._covering(base, checks, more, most)}
            if fitting := [one for one in sets.values() if self._is_consistent(one)]:
                compared = replay.failed if self._is_random else checks
                return None if base in fitting else SilentMatch(fitting, len(compared))
        return None

    def _checks_not_accounted_for(self, flaw: Flaw) -> Collection[str]:
        """Return the failed checks of a flaw that those of outputs do not account for.

        They do for a wrong number where outputs are wrong, unless it comes of dropout.
        """
        replay, base = self._replay, self._base
        checks = replay.predicted(flaw).difference(*map(replay.predicted, base))
        return checks - replay.implied if base and not flaw.random else checks

    def _covering(
        self, flaws: Explanation, checks: Collection[str], more: Sequence[Flaw], most: int
    ) -> Iterator[Explanation]:
        """Yield flaws, with at most so many more, for which these checks end as they did.

        What no output shows does not hide its like: each check ends as for one flaw of the last.
        """
        first_different = self._replay.first_different(flaws, checks)
        if first_different is None:
            yield flaws
        elif most:
            for flaw in more:
                union = (*flaws, flaw)
                if (
                    disjoint(union)
                    and self._replay.first_different(union, (first_different,)) is None
                ):
                    yield from self._covering(union, checks, more, most - 1)

    def _is_consistent(self, explanation: Explanation) -> bool:
        """Tell whether flaws give the outputs, or fail all checks alike where those are random."""
        if self._is_random and explanation != self._base:
            return self._replay.first_different(explanation, self._replay.failed) is None
        return self._reproduces_recording(explanation, self._calls)

    def _raises(self, flaw: Flaw) -> bool:
        """Tell whether a flaw that shows in outputs raises where the submission first did."""
        if self._raised is None or flaw.is_silent:
            return True
        made = self._spec.expect(self._spec.with_flaws(flaw))
        return raised_alike(self._raised, outputs(self._raised, made))

    def _reproduces_recording(self, explanation: Explanation, calls: Iterable[Recorded]) -> bool:
        """Tell whether flaws give what was recorded."""
        if all(flaw.hidden or flaw in self._base for flaw in explanation):
            calls = self._unnamed  # the others are known to be as these flaws leave them
        made = self._spec.expect(self._spec.with_flaws(*explanation))
        return all(distance(call, outputs(call, made)).fits for call in calls)
