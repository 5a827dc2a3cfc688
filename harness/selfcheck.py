"""A candidate's own file, checked on their own machine: no engine needed, not isolated."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from pathlib import Path

from harness.errors import UsageError
from harness.grading import Assignment, grade
from harness.intake import collect
from harness.parsing import Parser
from harness.results import Card
from harness.sandbox.base import LIMITS
from harness.sandbox.process import ProcessSandbox
from harness.spec import Spec

POLL_SECONDS = 0.3


def check_file(file: Path, spec: Spec) -> Card:
    """Run every check of a spec against one file, on inputs drawn afresh.

    Raises:
        UsageError: there is no such file, or it is of no known kind.
    """
    (delivery,) = collect([file], single=True).deliveries
    limits = LIMITS[spec.image]
    with Parser() as parser:
        assignment = Assignment(
            spec=spec, seed=secrets.token_hex(8), limits=limits, parser=parser
        )
        sandbox = ProcessSandbox(limits=limits)
        try:
            return grade(delivery, assignment, sandbox)
        finally:
            sandbox.close()


def changes(file: Path) -> Iterator[None]:
    """Yield at once, and again whenever the file has changed."""
    seen = None
    while True:
        try:
            status = file.stat()
        except OSError as error:
            raise UsageError(f"{file} cannot be read ({error.strerror})") from None
        if (now := (status.st_mtime_ns, status.st_size)) != seen:
            seen = now
            yield
        time.sleep(POLL_SECONDS)
