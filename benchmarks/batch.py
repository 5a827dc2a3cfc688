"""How fast a batch is graded, as ratios of one run.

``python -m benchmarks.batch [--spec NAME]... [--count N] [--jobs N] [--rounds N]``. In every round
the same submissions, half of them right, are graded, run cold in one pytest process each, and run
at the floor (``benchmarks.floor``), so that all three see the same machine. The baseline imports a
submission and calls it in 30 tests, as often as a grading does, and compares nothing. Start-up is
part of each figure.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import specs
from benchmarks.floor import write_calls
from harness.candidate.checks import run_checks
from harness.candidate.session import DirectSession
from harness.protocol import Answer, Step
from harness.threads import ONE_THREAD

SAMPLES = Path("sample_submissions")
TESTS = 30
#: The function that the baseline calls, by assignment.
FUNCTIONS = {"torch_sdpa": "scaled_dot_product_attention", "numpy_attention": "attention"}
#: Spec, options of ``takehome grade``, and the bars: times a cold pytest, times the floor.
ROWS = (
    ("torch_sdpa", ("--reuse",), 27.0, 1.8),
    ("numpy_attention", ("--reuse",), 8.0, None),
    ("numpy_attention", (), 1.0, None),
)

BASELINE = """
import runpy
import numpy as np
import pytest

FUNCTION = runpy.run_path({path!r})[{function!r}]
q, k, v = np.random.default_rng(0).normal(size=(3, 2, 4, 6, 8))
if {torch!r}:
    import torch
    q, k, v = map(torch.from_numpy, (q, k, v))

@pytest.mark.parametrize("number", range({tests}))
def test_call(number):
    for _ in range(number, {calls}, {tests}):
        FUNCTION(q, k, v)
"""


def submissions(spec: str, count: int) -> list[Path]:
    """Return right and wrong samples in turn, each one file, again from the first if need be."""
    kinds = [sorted((SAMPLES / spec).glob(f"{kind}_*.py")) for kind in ("right", "wrong")]
    pairs = zip(*map(itertools.cycle, kinds), strict=True)
    return list(itertools.islice(itertools.chain.from_iterable(pairs), count))


class Recording(DirectSession):
    """Keeps what a grading asks."""

    def __init__(self, spec: str) -> None:
        loaded = specs.load(spec)
        super().__init__(loaded.assemble(loaded.reference), arrays=loaded.arrays)
        self.steps: list[Step] = []

    def exchange(self, steps: Sequence[Step]) -> list[Answer]:
        """Keep the steps, and answer."""
        self.steps += steps
        return super().exchange(steps)


class Taken(NamedTuple):
    """Seconds that passed, and processor seconds of all host processes."""

    wall: float
    processor: float


def timed(work: Callable[[], None]) -> Taken:
    """Return what some work takes that is done in child processes."""
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    work()
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    user, system = after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime
    return Taken(wall, user + system)


def grade(folder: Path, out: Path, spec: str, jobs: int, options: Sequence[str]) -> None:
    """Grade a folder with cards, diagnosis and ledger."""
    asked = ["grade", str(folder), "--spec", spec, "--out", str(out), "--jobs", str(jobs)]
    command = [sys.executable, "-m", "harness.cli", *asked, *options, "--fresh", "--no-repairs"]
    subprocess.run(command, check=False, capture_output=True)


def exchanges(out: Path) -> int:
    """Return how many exchanges the largest grading of a batch took."""
    submissions = json.loads((out / "results.json").read_bytes())["submissions"]
    return max(int(one["exchanges"]) for one in submissions)


def write_baseline(folder: Path, spec: str, calls: int) -> list[Path]:
    """Write a test file for each submission of a folder."""
    tests = []
    for path in sorted(folder.glob("*.py")):
        test = folder.parent / f"test_{spec}_{path.stem}.py"
        text = BASELINE.format(
            path=str(path),
            function=FUNCTIONS[spec],
            torch=spec.startswith("torch"),
            tests=TESTS,
            calls=calls,
        )
        test.write_text(text, encoding="utf-8")
        tests.append(test)
    return tests


def run_baseline(tests: Sequence[Path], jobs: int) -> None:
    """Run one cold pytest per submission, as many at a time."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    with ThreadPoolExecutor(jobs) as pool:
        run = [pool.submit(subprocess.run, [*command, t], capture_output=True) for t in tests]
    for done in run:
        done.result()


def run_floor(spec: str, calls: Path, files: Sequence[Path], jobs: int) -> None:
    """Run the floor in as many jobs, each with its share of the submissions."""
    command = [sys.executable, "-m", "benchmarks.floor", spec, str(calls)]
    environment = {**os.environ, **ONE_THREAD}
    run = [
        subprocess.Popen([*command, *map(str, files[job::jobs])], env=environment)
        for job in range(jobs)
    ]
    for process in run:
        process.wait()


def row(
    spec: str, options: Sequence[str], bars: tuple[float, float | None], asked: argparse.Namespace
) -> None:
    """Measure one row, and print it."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        folder, out = root / "handed-in", root / "out"
        folder.mkdir()
        for number, path in enumerate(submissions(spec, asked.count)):
            (folder / f"s{number:04}.py").write_bytes(path.read_bytes())
        recording = Recording(spec)
        run_checks(specs.load(spec), recording, "benchmark")
        count = write_calls(recording.steps, root / "calls.npz")
        tests = write_baseline(folder, spec, count)
        files = sorted(folder.glob("*.py"))
        grade(folder, out, spec, asked.jobs, options)  # containers and files are in memory then
        rounds = [
            (
                timed(lambda: grade(folder, out, spec, asked.jobs, options)),
                timed(lambda: run_baseline(tests, asked.jobs)),
                timed(lambda: run_floor(spec, root / "calls.npz", files, asked.jobs)),
            )
            for _ in range(asked.rounds)
        ]
        trips, digest = exchanges(out), hashlib.sha256(tests[0].read_bytes()).hexdigest()[:12]
    ours, cold, floor = (
        statistics.median(one.wall for one in part) for part in zip(*rounds, strict=True)
    )
    faster = statistics.median(theirs.wall / mine.wall for mine, theirs, _ in rounds)
    above = statistics.median(mine.wall / least.wall for mine, _, least in rounds)
    host = statistics.median(mine.processor for mine, *_ in rounds)
    bar, most = bars
    print(
        f"| {spec} {' '.join(options) or 'fresh'} | {faster:.1f} × (bar {bar:g}) "
        f"| {above:.2f} ×{f' (bar {most:g})' if most else ''} | {asked.count / ours:.1f} "
        f"| {1000 * host / asked.count:.0f} ms | {count} calls, {trips} exchanges "
        f"| {cold / asked.count * asked.jobs:.2f} s, {digest} "
        f"| {1000 * floor / asked.count * asked.jobs:.0f} ms |",
        flush=True,
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spec", action="append", choices=sorted(FUNCTIONS))
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args(arguments)
    print(
        f"{asked.count} submissions, {asked.jobs} jobs, medians of {asked.rounds}\n"
        "| batch | times a cold pytest | times the floor | submissions a second "
        "| host processor time each | a right one | cold pytest: each, its file | floor: each |\n"
        "|---|---|---|---|---|---|---|---|"
    )
    for spec, options, *bars in ROWS:
        if spec in (asked.spec or FUNCTIONS):
            row(spec, options, (bars[0], bars[1]), asked)


if __name__ == "__main__":
    main()
