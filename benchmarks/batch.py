"""How fast a batch is graded, as a ratio to a plain pytest process per submission.

``python -m benchmarks.batch --spec NAME --count N --jobs N --rounds N``. Both are measured in
turn, so that they see the same machine; half of the submissions are right. The baseline imports
a submission and calls it in 30 tests, as often as a grading does, and compares nothing.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SAMPLES = Path("sample_submissions")
TESTS = 30
#: Calls of one grading, by assignment, and the function that is called.
CALLS = {"torch_sdpa": 172, "numpy_attention": 130}
FUNCTIONS = {"torch_sdpa": "scaled_dot_product_attention", "numpy_attention": "attention"}

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


def grade_seconds(folder: Path, out: Path, spec: str, jobs: int) -> float:
    """Grade a folder with cards, diagnosis and ledger, in containers that are used again."""
    asked = ["grade", str(folder), "--spec", spec, "--out", str(out), "--jobs", str(jobs)]
    began = time.perf_counter()
    command = [sys.executable, "-m", "harness.cli", *asked, "--reuse", "--fresh"]
    subprocess.run(command, check=False, capture_output=True)
    return time.perf_counter() - began


def pytest_seconds(folder: Path, spec: str, jobs: int) -> float:
    """Run one cold pytest per submission, as many at a time."""
    tests = []
    for path in sorted(folder.glob("*.py")):
        test = folder.parent / f"test_{path.stem}.py"
        text = BASELINE.format(
            path=str(path),
            function=FUNCTIONS[spec],
            torch=spec.startswith("torch"),
            tests=TESTS,
            calls=CALLS[spec],
        )
        test.write_text(text, encoding="utf-8")
        tests.append([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(test)])
    began = time.perf_counter()
    with ThreadPoolExecutor(jobs) as pool:
        run = [pool.submit(subprocess.run, test, capture_output=True) for test in tests]
    for done in run:
        done.result()
    return time.perf_counter() - began


def main() -> None:
    """Print submissions per second and the ratio, at the median of the rounds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spec", default="torch_sdpa", choices=sorted(CALLS))
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "handed-in"
        folder.mkdir()
        for number, path in enumerate(submissions(asked.spec, asked.count)):
            (folder / f"s{number:04}.py").write_bytes(path.read_bytes())
        for _ in range(asked.rounds):
            ours = grade_seconds(folder, Path(name) / "out", asked.spec, asked.jobs)
            rows.append((ours, pytest_seconds(folder, asked.spec, asked.jobs)))
    ours, theirs = (statistics.median(column) for column in zip(*rows, strict=True))
    ratio = statistics.median(cold / warm for warm, cold in rows)
    print(
        f"{asked.spec}, {asked.count} submissions, {asked.jobs} jobs: "
        f"{asked.count / ours:.1f} a second, start-up included; a cold pytest each: "
        f"{asked.count / theirs:.2f} a second ({theirs / asked.count * asked.jobs:.1f} s each); "
        f"{ratio:.1f} times"
    )


if __name__ == "__main__":
    main()
