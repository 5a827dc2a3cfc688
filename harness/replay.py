"""Would an implementation with these flaws fail the same checks, in the same way?

For what outputs do not show: gradients, dropout, state, side effects, dtypes. The failing checks
run again on the same inputs against the flawed reference, in this process.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from harness.candidate import Candidate
from harness.results import CheckResult, Outcome
from harness.running import run_check
from harness.session import DirectSession
from harness.spec import Flaw, Spec

_NUMBER = re.compile(r"[-+]?\d[\d.,]*(?:e[-+]?\d+)?%?|\b(?:nan|inf)\b")


class Replay:
    """The checks that a submission failed, to be compared with those that a flaw fails."""

    def __init__(self, spec: Spec, checks: Sequence[CheckResult], seed: str) -> None:
        self._spec = spec
        self._seed = seed
        self.failed = [check for check in checks if check.outcome is not Outcome.PASSED]
        self._known = {check.id: check for check in spec.checks}

    @property
    def candidates(self) -> list[Flaw]:
        """The flaws all of whose checks the submission failed."""
        failed, known = {check.id for check in self.failed}, self._known.keys()
        return [flaw for flaw in self._spec.flaws if known & set(flaw.caught_by) <= failed]

    def agrees(self, *flaws: Flaw) -> bool:
        """Tell whether every failed check ends the same for the reference with these flaws."""
        functions = self._spec.assemble(self._spec.with_flaws(*flaws))
        candidate = Candidate(self._spec, DirectSession(functions, arrays=self._spec.arrays))
        for failed in self.failed:
            check = run_check(self._known[failed.id], self._spec, candidate, self._seed)
            if _manner(check) != _manner(failed):
                return False
        return True


def _manner(check: CheckResult) -> tuple[Outcome, str]:
    """Return how a check ended: the outcome, and the message without its numbers."""
    return check.outcome, _NUMBER.sub("#", check.message)
