"""Grades one submission after another, each in a sandbox of its own or in one that serves many."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from harness.grading.grading import Assignment, Readable, grade
from harness.results import Card, Verdict
from harness.sandbox import OpenSandbox, Sandbox

#: Memory that candidates' processes left in a container's kernel accounting is given back so often.
SUBMISSIONS_PER_SANDBOX: Final = 100


class Grader:
    """One job of a batch: an assignment, and the sandbox that is open for it.

    With ``reuse`` a sandbox serves one submission after another until it is tainted: after a
    timeout, a kill, a violation, anything left behind, or ``most`` submissions.
    """

    def __init__(
        self,
        assignment: Assignment,
        open_sandbox: OpenSandbox,
        *,
        reuse: bool,
        most: int = SUBMISSIONS_PER_SANDBOX,
    ) -> None:
        self.assignment = assignment
        self._open = open_sandbox
        self._reuse = reuse
        self._most = most
        self._sandbox: Sandbox | None = None
        self._served = 0

    def grade(self, submission: Readable) -> Card:
        """Grade one submission; whatever it does becomes a card.

        Raises:
            SandboxBroken: no sandbox can be opened.
        """
        return self.use(lambda sandbox: grade(submission, self.assignment, sandbox))

    def use(self, make_card: Callable[[Sandbox], Card]) -> Card:
        """Make a card in the sandbox that is open.

        Raises:
            SandboxBroken: no sandbox can be opened.
        """
        if self._sandbox is None:
            self._sandbox, self._served = self._open(), 0
        card = None
        try:
            card = make_card(self._sandbox)
        finally:
            self._served += 1
            if card is None or not self._serves_on(card):
                self.close()
        return card

    def _serves_on(self, card: Card) -> bool:
        """Tell whether the sandbox may serve another submission."""
        if self._sandbox is None or not self._reuse or self._sandbox.tainted:
            return False
        return card.result.verdict is not Verdict.INVALID and self._served < self._most

    def close(self) -> None:
        """Close the sandbox; safe to call twice, and a later submission opens another."""
        sandbox, self._sandbox = self._sandbox, None
        if sandbox is not None:
            sandbox.close()
