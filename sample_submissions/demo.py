"""Grades every folder of samples and ends with one table and one page: ``make demo``.

    python sample_submissions/demo.py OUT
"""

from __future__ import annotations

import html
import json
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from rich.console import Console
from rich.table import Table

SAMPLES = Path(__file__).parent
VERDICTS = ("passed", "failed", "ungradeable", "awaiting_review", "invalid")

PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>takehome: the samples</title>
<style>body{{font:16px/1.5 system-ui;margin:2rem auto;max-width:48rem;color-scheme:light dark}}
td,th{{padding:.2rem .8rem;text-align:right}}td:first-child,th:first-child{{text-align:left}}</style>
<h1>The samples, by assignment</h1>
<table><tr><th>assignment</th>{heads}</tr>{rows}</table>
"""


def sandbox() -> str:
    """Return the kind of sandbox that can be had here, and say why."""
    asked = [sys.executable, "-m", "harness.sandbox.container"]
    engine = subprocess.run(asked, capture_output=True, text=True, check=False)
    kind = "container" if engine.returncode == 0 else "process"
    print(f"grading in the {kind} sandbox: {engine.stdout.strip()}", flush=True)
    return kind


def grade(folder: Path, out: Path, kind: str) -> Counter[str]:
    """Grade one folder and count its verdicts.

    Raises:
        SystemExit: the grading broke; what it said is printed.
    """
    asked = [sys.executable, "-m", "harness.cli", "grade", str(folder), "--spec", folder.name,
             "--out", str(out), "--sandbox", kind, "--reuse", "--fresh"]  # fmt: skip
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"{done.stdout}{done.stderr}{folder.name} ended with {done.returncode}")
    results = json.loads((out / "results.json").read_bytes())
    return Counter(one["verdict"] for one in results["submissions"])


def write_page(counts: dict[str, Counter[str]], out: Path) -> Path:
    """Write the page that links every batch."""
    heads = "".join(f"<th>{verdict.replace('_', ' ')}</th>" for verdict in VERDICTS)
    rows = "".join(
        f'<tr><td><a href="{html.escape(name)}/index.html">{html.escape(name)}</a></td>'
        + "".join(f"<td>{count[verdict] or ''}</td>" for verdict in VERDICTS)
        + "</tr>"
        for name, count in counts.items()
    )
    page = out / "index.html"
    page.write_text(PAGE.format(heads=heads, rows=rows), encoding="utf-8")
    return page.resolve()


def main(out: Path) -> int:
    """Grade all folders; return 0 unless the harness broke for one."""
    kind = sandbox()
    counts: dict[str, Counter[str]] = {}
    folders = sorted(path for path in SAMPLES.iterdir() if (path / "expected.toml").exists())
    for number, folder in enumerate(folders, 1):
        began = time.monotonic()
        print(f"[{number}/{len(folders)}] {folder.name} …", end="", flush=True)
        counts[folder.name] = grade(folder, out / folder.name, kind)
        print(f" {counts[folder.name].total()} in {time.monotonic() - began:.0f} s", flush=True)
    table = Table("assignment", *(verdict.replace("_", " ") for verdict in VERDICTS))
    for name, count in counts.items():
        table.add_row(name, *(str(count[verdict] or "") for verdict in VERDICTS))
    Console().print(table)
    print(f"all scorecards: {write_page(counts, out)}")
    return 3 if any(count["invalid"] for count in counts.values()) else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
