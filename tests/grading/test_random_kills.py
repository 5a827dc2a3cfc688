"""A batch that is killed at moments of chance, and run again until it is done."""

import json
import random
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.grading.ledger_file import FILE

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "sample_submissions" / "positional_encoding"
COUNT = 6


def start(inbox, out):
    command = [sys.executable, "-m", "harness.cli", "grade", str(inbox), "--out", str(out)]
    command += ["--spec", "positional_encoding", "--sandbox", "process", "--seed", "7"]
    return subprocess.Popen(
        [*command, "--jobs", "2", "--reuse"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=ROOT,
    )


def decided(out):
    """What was decided about each submission."""
    results = json.loads((out / "results.json").read_text())["submissions"]
    return [
        (one["id"], one["verdict"], one["earned"], [check["outcome"] for check in one["checks"]])
        for one in results
    ]


def graded(out):
    """How often each submission was graded, by the ledger."""
    database = sqlite3.connect(out / FILE)
    rows = database.execute("SELECT submission, count(*) FROM history GROUP BY 1").fetchall()
    database.close()
    return dict(rows)


@pytest.mark.parametrize("kills", [3, pytest.param(30, marks=pytest.mark.slow)])
def test_nothing_is_lost_and_nothing_is_graded_twice(tmp_path, kills):
    inbox = tmp_path / "in"
    inbox.mkdir()
    samples = sorted(SAMPLES.glob("*.py"))[:COUNT]
    for path in samples:
        (inbox / path.name).write_bytes(path.read_bytes())
    began = time.monotonic()
    assert start(inbox, tmp_path / "whole").wait(300) == 1
    whole = time.monotonic() - began
    chance = random.Random(kills)
    folders = iter(tmp_path / f"out{number}" for number in range(kills + 1))
    out, left = next(folders), kills
    while left:
        run = start(inbox, out)
        try:
            run.wait(chance.uniform(0.2, 0.9) * whole)
            out = next(folders)  # it was through before; the next one is killed
        except subprocess.TimeoutExpired:
            run.kill()
            run.wait()
            left -= 1
    assert start(inbox, out).wait(300) == 1
    assert decided(out) == decided(tmp_path / "whole")
    assert graded(out) == {path.stem: 1 for path in samples}
