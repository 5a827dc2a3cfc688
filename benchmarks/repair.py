"""For how many of the samples with one flaw an edit is found under which every check passes.

``python -m benchmarks.repair [--spec NAME]... [--samples GLOB] [--every N] [--verbose]`` grades
the wrong samples of each spec in the process sandbox, looks for a repair of each, and prints a
table. Samples with two flaws or more are counted apart; a sample that passes every check is left
out. All samples take half an hour, most of it the starts of torch; every twelfth, three minutes.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Mapping
from typing import NamedTuple

import specs
from harness.grading.grading import Assignment, grade_submission
from harness.intake.submission import load
from harness.parsing.client import Parser
from harness.repair.finder import RUNS, SECONDS, Mender
from harness.results import Card, Outcome
from harness.sandbox.base import LIMITS
from harness.sandbox.process import ProcessSandbox
from harness.spec.spec import Spec
from tests.samples import paths

BAR = 0.8


class Row(NamedTuple):
    """What came of one sample."""

    name: str
    card: Card
    seconds: float

    @property
    def repaired(self) -> bool:
        """Whether an edit was found."""
        return self.card.repair is not None


def rows(
    spec: Spec, mender: Mender, *, pattern: str = "wrong_*.py", every: int = 1, verbose: bool
) -> list[Row]:
    """Grade and repair every Nth sample of one spec, N being ``every``."""
    found = []
    limits = LIMITS[spec.image]
    sandbox = ProcessSandbox(limits=limits)
    with Parser() as parser:
        assignment = Assignment(spec=spec, seed="benchmark", limits=limits, parser=parser)
        for path in paths(spec.name, pattern)[::every]:
            submission = load(path, parser)
            card = grade_submission(submission, assignment, sandbox)
            if all(check.outcome is Outcome.PASSED for check in card.result.checks):
                continue
            began = time.perf_counter()
            card = mender(card, submission, assignment, sandbox)
            row = Row(path.stem, card, time.perf_counter() - began)
            found.append(row)
            if verbose:
                repair = card.repair
                came_to = f"{repair.runs:4} runs  {repair.description}" if repair else "—"
                print(f"  {row.name:60} {row.seconds:6.1f} s  {came_to}", flush=True)
    sandbox.close()
    return found


def line(name: str, of: list[Row]) -> str:
    """Return one line of the table."""
    repaired = [row for row in of if row.repaired]
    runs = [row.card.repair.runs for row in of if row.card.repair is not None]
    median = statistics.median(runs) if runs else 0
    share = len(repaired) / len(of)
    worst = max(row.seconds for row in of)
    return (
        f"{name:32} {len(of):7} {len(repaired):8} {share:6.0%} {median:11.0f}"
        f" {max(runs, default=0):9} {worst:9.1f}"
    )


def table(found: Mapping[str, list[Row]], runs: int) -> str:
    """Return the table, with a line for all samples with one flaw."""
    lines, all_single = [], []
    for name, of in found.items():
        single = [row for row in of if "+" not in row.name]
        several = [row for row in of if "+" in row.name]
        lines += [line(name, single)] if single else []
        lines += [line(f"{name}, several flaws", several)] if several else []
        all_single += single
    heading = f"{'spec':32} samples repaired  share median runs most runs  worst (s)"
    bar = f"bar: {BAR:.0%} of the samples with one flaw, within {runs} runs"
    lines += [line("all with one flaw", all_single)] if all_single else []
    return "\n".join((heading, *lines, bar))


def brief() -> None:
    """Print the table of every twelfth sample."""
    found = {name: rows(specs.load(name), Mender(), every=12, verbose=False) for name in _names()}
    print("Repair, every twelfth sample:")
    print(table(found, RUNS))


def _names() -> list[str]:
    return [name for name in specs.TITLES if paths(name, "wrong_*.py")]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spec", action="append", help="a spec; all that have samples otherwise")
    parser.add_argument("--samples", default="wrong_*.py", help="which files")
    parser.add_argument("--every", type=int, default=1, help="take only every Nth of them")
    parser.add_argument("--runs", type=int, default=RUNS, help="candidate runs for each sample")
    parser.add_argument("--verbose", action="store_true", help="a line for each sample")
    options = parser.parse_args()
    mender = Mender(runs=options.runs, seconds=SECONDS)
    found = {}
    for name in options.spec or _names():
        found[name] = rows(
            specs.load(name),
            mender,
            pattern=options.samples,
            every=options.every,
            verbose=options.verbose,
        )
    print(table(found, options.runs))


if __name__ == "__main__":
    main()
