"""Do flaws give every recorded call of an entry point, in one style of the reference?"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Sequence

from harness.candidate import Recorded
from harness.diagnosis.distance import Distance, distance, fits, outputs
from harness.diagnosis.first_wrong_call import Explanation
from harness.spec import Spec


@dataclasses.dataclass(frozen=True, slots=True)
class Survivor:
    """An explanation that gives every call."""

    explanation: Explanation
    style: Spec
    unexplained: int  #: calls that raised, and should not have
    fine: bool  #: no more than the rounding of the answers' own format
    difference: float  #: the largest of any call


class AllCalls:
    """The calls of one entry point, of which the checks that ``failed`` count in any case."""

    def __init__(self, spec: Spec, calls: Sequence[Recorded], failed: Collection[str]) -> None:
        self._spec = spec
        self._styles = tuple(spec.in_styles())
        self._failed = failed
        self._calls = sorted(calls, key=lambda call: (call.check not in failed, call.size))
        #: So many exceptions may stay unexplained: no more than with the best so far.
        self.most = math.inf
        #: By how much the nearest of the flaws differs that do not explain all calls by themselves.
        self.next = math.inf

    @property
    def rejecting(self) -> Recorded:
        """The call that has rejected the last explanation."""
        return self._calls[0]

    def of(self, explanation: Explanation) -> Survivor | None:
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
                if unexplained > self.most or self._is_compared(call):
                    self.reject(explanation, found)
                    self._calls.insert(0, self._calls.pop(place))
                    break
            else:
                self.most = min(self.most, unexplained)
                return Survivor(explanation, style, unexplained, fine, difference)
        return None

    def of_call(self, call: Recorded, explanation: Explanation) -> bool:
        """Tell whether flaws give a call in any style."""
        made = (style.expect(style.with_flaws(*explanation)) for style in self._styles)
        return any(fits(call, outputs(call, one)) for one in made)

    def reject(self, explanation: Explanation, found: Distance) -> None:
        """Note how far off a single flaw is."""
        if len(explanation) == 1:
            self.next = min(self.next, found.difference)

    def _is_compared(self, call: Recorded) -> bool:
        """Tell whether a call counts: not one that passed in another shape than the reference's."""
        if call.answer.raised is not None:
            return False
        if call.check in self._failed:
            return True
        reference = outputs(call, self._spec.expect(self._spec.reference))
        return math.isfinite(distance(call, reference).difference)
