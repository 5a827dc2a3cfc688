"""Would an implementation with these flaws fail the same checks, in the same way?

For what outputs do not show: gradients, dropout, state, side effects, dtypes. Failing checks run
again on the same inputs against the flawed reference, in this process.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from harness.candidate import Candidate, DirectSession, SubmissionFacts, run_check
from harness.results import LEVELS, CheckResult, Outcome
from harness.spec import Flaw, Spec, disjoint

_NUMBER: Final = re.compile(r"[-+]?\d(?:[\d.,]*\d)?(?:e[-+]?\d+)?%?|\b(?:nan|inf)\b")
#: Where the submission raised; the reference is in no file of its own.
_LINE: Final = re.compile(r" \(line \d+\)")

#: How a check ends where the submission's process goes on.
ANSWERED: Final = (Outcome.FAILED, Outcome.RAISED)

#: How a check ended: the outcome, and the message without its numbers.
Manner = tuple[Outcome, str]


class Replay:
    """The checks that a submission failed, to be compared with those that flaws fail."""

    def __init__(self, spec: Spec, checks: Sequence[CheckResult], seed: str) -> None:
        self._spec = spec
        self._results = checks
        self._seed = seed
        self._checks = {check.id: check for check in spec.checks}
        self.failed = {check.id: _manner(check) for check in checks if check.outcome.is_missed}
        #: Checks in which a number is wrong, and which earn nothing since another check failed.
        self.implied = {
            check.id
            for check in checks
            if _is_number_wrong(check) and self._checks[check.id].earns_with in self.failed
        }
        self._known: dict[tuple[frozenset[Flaw], str], Manner] = {}
        self._candidates: dict[frozenset[Flaw], Candidate] = {}

    def of(self, spec: Spec) -> Replay:
        """Return the same for a spec in another style."""
        return self if spec is self._spec else Replay(spec, self._results, self._seed)

    def predicted(self, flaw: Flaw) -> frozenset[str]:
        """Return the checks of this spec that a flaw fails, at least."""
        return frozenset(self._checks) & frozenset(flaw.caught_by)

    def compatible(self, flaw: Flaw) -> bool:
        """Tell whether the submission failed every check that a flaw fails, if it fails any."""
        predicted = self.predicted(flaw)
        return bool(predicted) and predicted <= self.failed.keys()

    def first_different(self, flaws: Collection[Flaw], checks: Iterable[str]) -> str | None:
        """Return a failed check that ends in another way for the reference with these flaws.

        Of those the one that the fewest flaws fail, which decides the most; None where all end
        the same. No flaw ends a process.
        """
        rarest = sorted(checks, key=self._flaw_count)
        ended = (check for check in rarest if self.failed[check][0] not in ANSWERED)
        other = (check for check in rarest if self._replayed(flaws, check) != self.failed[check])
        return next(itertools.chain(ended, other), None)

    def not_accounted_for(self, flaws: Collection[Flaw]) -> list[str]:
        """Return the failed checks that the reference with these flaws passes."""
        if not flaws or not disjoint(tuple(flaws)):
            return []
        predicted = frozenset().union(*map(self.predicted, flaws))
        others = [check for check in self.failed if check not in predicted | self.implied]
        return [check for check in others if self._replayed(flaws, check)[0] is Outcome.PASSED]

    def level_of(self, check: str) -> int:
        """Return the place of a check's level among the levels, from the lowest."""
        return LEVELS.index(self._checks[check].level)

    def lowest_level(self, flaw: Flaw) -> int:
        """Return the place of the lowest level of which a flaw fails a check."""
        return min(map(self.level_of, self.predicted(flaw)), default=len(LEVELS))

    def _flaw_count(self, check: str) -> int:
        return sum(check in flaw.caught_by for flaw in self._spec.flaws)

    def _replayed(self, flaws: Collection[Flaw], check: str) -> Manner:
        if not flaws:
            return Outcome.PASSED, ""  # as the reference does
        key = frozenset(flaws)
        if (key, check) not in self._known:
            if key not in self._candidates:
                functions = self._spec.assemble(self._spec.with_flaws(*flaws))
                session = DirectSession(functions, arrays=self._spec.arrays)
                known = SubmissionFacts(trust_parameter_names=True)
                self._candidates[key] = Candidate(self._spec, session, known=known)
            found = run_check(self._checks[check], self._spec, self._candidates[key], self._seed)
            self._known[key, check] = _manner(found)
        return self._known[key, check]


def _is_number_wrong(check: CheckResult) -> bool:
    return check.mismatch is not None and isinstance(check.mismatch.actual, float)


def _manner(check: CheckResult) -> Manner:
    return check.outcome, _NUMBER.sub("#", _LINE.sub("", check.message))
