"""How often diagnosis names the right flaw, and how long it takes.

Run from the root of the repository: ``python -m benchmarks.diagnosis [SPEC…] [--seeds N]
[--pairs N] [--show]``. Each flaw of a spec is put into the reference, the checks are run, and what
diagnosis says of the recording is compared with what is known. A name is right when it is the
flaw's, or that of one which no call of other draws separates from it by more than 10 bounds.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import os
import random
import statistics
import sys
import time
import warnings
from collections import Counter
from collections.abc import Sequence

import specs
from harness.candidate.checks import run_checks
from harness.candidate.functions import Recorded
from harness.candidate.session import DirectSession
from harness.commands.job import make_ready
from harness.diagnosis.diagnosis import diagnose
from harness.diagnosis.distance import usable
from harness.diagnosis.first_wrong_call import Explanation
from harness.results import Diagnosis, Outcome
from harness.spec.spec import Spec, disjoint
from harness.threads import ONE_THREAD
from tests.specs.classes import pairs, separated

#: Draws on which a wrong name must be separated from the right one.
OTHER_DRAWS = ("other draw 1", "other draw 2", "other draw 3")


@dataclasses.dataclass(slots=True)
class Tally:
    """What became of some submissions."""

    outcomes: Counter[str] = dataclasses.field(default_factory=Counter)
    times: list[float] = dataclasses.field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Count what became of others, too."""
        self.outcomes += other.outcomes
        self.times += other.times

    def share(self) -> str:
        """Spell the counts of right, wrong and none."""
        total = sum(self.outcomes.values())
        counts = " / ".join(str(self.outcomes[name]) for name in ("right", "wrong", "none"))
        return f"{counts} ({100 * self.outcomes['right'] / max(total, 1):.1f} %)"

    def median(self) -> str:
        """Spell the median of the milliseconds."""
        return f"{statistics.median(self.times):.0f}" if self.times else "-"

    def worst(self) -> str:
        """Spell the largest of the milliseconds."""
        return f"{max(self.times):.0f}" if self.times else "-"


class Bench:
    """One spec, and what is needed to judge names of its flaws."""

    def __init__(self, spec: Spec, *, show: bool) -> None:
        self.spec = spec
        self._show = show
        self._flaws = {flaw.id: flaw for flaw in spec.flaws}
        self._recordings: list[Recorded] = []

    def run(self, truth: Explanation, seed: str, tally: Tally) -> None:
        """Diagnose the reference with some flaws, and count what is said."""
        spec = self.spec
        functions = spec.assemble(spec.with_flaws(*truth))
        checks, recording = run_checks(spec, DirectSession(functions, arrays=spec.arrays), seed)
        if all(check.outcome is Outcome.PASSED for check in checks):
            tally.outcomes["uncaught"] += 1
            return
        began = time.process_time()
        said = diagnose(spec, recording, checks, seed)
        tally.times.append(1000 * (time.process_time() - began))
        outcome = self._judge(truth, said)
        tally.outcomes[outcome] += 1
        if self._show and outcome != "right":
            ids = "+".join(flaw.id for flaw in truth)
            names = [one.flaw for one in said]
            failed = sum(check.outcome is not Outcome.PASSED for check in checks)
            print(f"  {outcome}: {ids} -> {names} ({failed} failed, {tally.times[-1]:.0f} ms)")

    def _judge(self, truth: Explanation, said: Sequence[Diagnosis]) -> str:
        if not said:
            return "none"
        ids = dict.fromkeys(id for one in said for id in one.flaw.split("+"))
        named = tuple(self._flaws[id] for id in ids)
        if set(named) == set(truth):
            return "right"
        titles = {title for one in said for title in (one.title, *one.alternatives)}
        wanted = {" and ".join(f.title for f in order) for order in itertools.permutations(truth)}
        if titles & wanted or (disjoint(named) and not self._separated(named, truth)):
            return "right"
        # One of two entry points, say, is not explained: nothing wrong was said.
        return "none" if set(named) <= set(truth) else "wrong"

    def _separated(self, one: Explanation, other: Explanation) -> bool:
        if not self._recordings:
            for seed in OTHER_DRAWS:
                functions = self.spec.assemble(self.spec.reference)
                session = DirectSession(functions, arrays=self.spec.arrays)
                _, recording = run_checks(self.spec, session, seed)
                self._recordings += filter(usable, recording)
        return separated(self.spec, one, other, self._recordings)


def table(names: Sequence[str], seeds: int, most_pairs: int, *, show: bool) -> None:
    """Print one row per spec, and one for all."""
    warnings.simplefilter("ignore")
    os.environ |= ONE_THREAD  # as the command line does
    print("| spec | single flaws right / wrong / none | pairs | median ms | worst ms |")
    print("|---|---|---|---|---|")
    all_singles, all_doubles = Tally(), Tally()
    for name in names or [name for name in specs.TITLES if specs.load(name).image != "text"]:
        spec = specs.load(name)
        make_ready(spec)
        bench, singles, doubles = Bench(spec, show=show), Tally(), Tally()
        for flaw in spec.flaws:
            for seed in range(seeds):
                bench.run((flaw,), f"seed {seed}", singles)
        drawn = pairs(spec)
        random.Random(name).shuffle(drawn)
        for pair in drawn[:most_pairs]:
            bench.run(pair, "seed 0", doubles)
        _print_row(name, singles, doubles)
        all_singles.add(singles)
        all_doubles.add(doubles)
    _print_row("all", all_singles, all_doubles)


def _print_row(name: str, singles: Tally, doubles: Tally) -> None:
    print(
        f"| {name} | {singles.share()} | {doubles.share()} "
        f"| {singles.median()} / {doubles.median()} | {singles.worst()} / {doubles.worst()} |"
    )
    sys.stdout.flush()


def brief() -> None:
    """Print the table for one seed and some pairs."""
    table((), seeds=1, most_pairs=20, show=False)


def main() -> None:
    """Print the table that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("specs", nargs="*")
    parser.add_argument("--seeds", type=int, default=2, help="seeds per flaw; 50 for the record")
    parser.add_argument("--pairs", type=int, default=60, help="pairs per spec, drawn at random")
    parser.add_argument("--show", action="store_true", help="print what is not right")
    options = parser.parse_args()
    table(options.specs, options.seeds, options.pairs, show=options.show)


if __name__ == "__main__":
    main()
