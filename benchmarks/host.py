"""What grading costs on the host: start-up, memory, round trips.

Run from the root of the repository: ``python -m benchmarks.host``. A batch of numpy submissions
is graded in containers where an engine answers, in plain processes elsewhere.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from harness.errors import SandboxUnavailable
from harness.sandbox.container.engine import connect
from tests.samples import paths

HELP_BAR_SECONDS = 0.5
MEMORY_BAR_MB = 150
REPEATS = 9

#: Runs the command line and says how large its own process became, without its children.
PEAK = """
import resource, sys
from harness.cli import main
try:
    main(sys.argv[1:])
finally:
    print("peak", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
"""


def help_seconds() -> float:
    """Return the median time that ``takehome --help`` takes."""
    command = [str(Path(sys.executable).with_name("takehome")), "--help"]
    times = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def sandbox() -> str:
    """Return the sandbox to grade in."""
    try:
        connect().close()
    except SandboxUnavailable:
        return "process"
    return "container"


def batch(spec: str, names: str, out: Path) -> tuple[float, dict[str, int]]:
    """Grade samples; return the peak of the host's process in MB, and round trips by submission."""
    submissions = [str(path) for path in paths(spec, names)]
    arguments = ["grade", *submissions, "--spec", spec, "--out", str(out), "--sandbox", sandbox(),
                 "--no-repairs"]  # fmt: skip
    command = [sys.executable, "-c", PEAK, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    peak = float(done.stderr.splitlines()[-1].removeprefix("peak ")) / 1024
    results = json.loads((out / "results.json").read_text(encoding="utf-8"))
    return peak, {one["id"]: one["exchanges"] for one in results["submissions"]}


def main() -> None:
    """Print one line per figure."""
    print(f"takehome --help: {help_seconds():.2f} s at the median (bar: {HELP_BAR_SECONDS} s)")
    with tempfile.TemporaryDirectory() as folder:
        peak, trips = batch("numpy_attention", "*_[a-e]*.py", Path(folder) / "numpy")
        print(
            f"host process over {len(trips)} numpy submissions in the {sandbox()} sandbox: "
            f"{peak:.0f} MB at its peak (bar: {MEMORY_BAR_MB} MB)"
        )
        print(f"round trips of one grading, numpy_attention: {trips['source_a']}")
        _, trips = batch("torch_sdpa", "source_c.py", Path(folder) / "torch")
        print(f"round trips of one grading, torch_sdpa: {trips['source_c']}")


if __name__ == "__main__":
    main()
