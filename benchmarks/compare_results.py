"""Compares the results of two versions on the same submissions and seed: what was decided?

    python -m benchmarks.compare_results BEFORE AFTER

Both are folders with one output folder of ``takehome grade --seed S`` each assignment. Decisions
(verdict, level, points, outcomes, ids of checks and flaws, stages, conventions) must be equal;
sentences that differ are listed. Exits with 1 if a decision or a submission differs.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def decisions(submission: dict[str, Any]) -> Iterator[tuple[str, object]]:
    """Yield what was decided about a submission, by name."""
    for name in ("verdict", "level", "earned", "possible", "conventions"):
        yield name, submission[name]
    for check in submission["checks"]:
        keys = ("outcome", "level", "points", "earned", "stage")
        yield f"check {check['id']}", [check.get(key) for key in keys]
    named = [(one["flaw"], one["stage"], one.get("stages")) for one in submission["diagnosis"]]
    yield "diagnosis", named


def sentences(submission: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what is said about a submission, by name."""
    for check in submission["checks"]:
        for key in ("title", "message", "hint"):
            yield f"{check['id']}.{key}", str(check.get(key))
    for one in submission["diagnosis"]:
        yield f"diagnosis {one['flaw']}", one["confidence"]
    yield "reason", str(submission.get("reason"))


def main(before: Path, after: Path) -> int:
    """Print what differs; return 1 if it is more than sentences."""
    counted = different = 0
    changed: dict[tuple[str, str], int] = {}
    for file in sorted(before.glob("*/results.json")):
        spec = file.parent.name
        old, new = (
            {one["id"]: one for one in json.loads(path.read_bytes())["submissions"]}
            for path in (file, after / spec / "results.json")
        )
        for missing in sorted(old.keys() ^ new.keys()):
            different += 1
            print(f"{spec}/{missing}: in one of them only")
        for name in sorted(old.keys() & new.keys()):
            counted += 1
            one, other = dict(decisions(old[name])), dict(decisions(new[name]))
            for key in sorted(one.keys() | other.keys()):
                if one.get(key) != other.get(key):
                    different += 1
                    print(f"{spec}/{name}: {key} was {one.get(key)}, is {other.get(key)}")
            said, says = dict(sentences(old[name])), dict(sentences(new[name]))
            for key in said.keys() & says.keys():
                if said[key] != says[key]:
                    pair = (said[key], says[key])
                    changed[pair] = changed.get(pair, 0) + 1
    for (said_text, says_text), times in sorted(changed.items()):
        print(f"{times} × said {said_text!r}, says {says_text!r}")
    print(f"{counted} submissions, {different} decisions differ, {len(changed)} sentences differ")
    return min(different, 1)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
