"""The corpus: attacks as folders, each with what it must come to.

A case is a folder with ``answer.py`` and ``case.toml``. What tools of ours would trip over (links,
pipes, a ``conftest.py``, files of gigabytes) is described in ``case.toml`` and made at run time.
Cases answer the toy assignment of ``tests/toy.py``: what is attacked is the sandbox, the protocol
and the reports, not an assignment. One that gets through gives a wrong answer, or spoils the next.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import msgspec

from harness.results import Outcome, Verdict

FOLDER = Path(__file__).parent


class Case(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What ``case.toml`` says."""

    kind: str
    verdict: Verdict | tuple[Verdict, ...]  #: or those that it may come to, where time decides
    earned: float  #: the most points
    without: str = "right"  #: what the same code answers without the attack: "right" or "wrong"
    outcomes: tuple[Outcome, ...] = ()  #: that checks must have
    fast: bool = False  #: runs in `make test`
    image: str = "numpy"
    machine: str = ""  #: the only one it is for
    speaks: bool = False  #: ``speaker.py`` travels along
    files: dict[str, str] = {}
    repeats: dict[str, tuple[str, str, int, str]] = {}  #: a text with its middle so many times
    sizes: dict[str, int] = {}  #: files with nothing in them that take no room
    links: dict[str, str] = {}  #: "CANARY" stands for a secret file of the host
    hard_links: dict[str, str] = {}
    pipes: dict[str, str] = {}
    many: int = 0  #: so many more files

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Return all that it may come to."""
        return self.verdict if isinstance(self.verdict, tuple) else (self.verdict,)


def read(name: str) -> Case:
    """Read the case of that name."""
    return msgspec.toml.decode((FOLDER / name / "case.toml").read_bytes(), type=Case)


CASES = {path.parent.name: read(path.parent.name) for path in sorted(FOLDER.glob("*/case.toml"))}


def deliver(name: str, folder: Path, canary: Path) -> Path:
    """Make what a case hands in, in an empty ``folder``; return the path of the submission."""
    case, answer = CASES[name], FOLDER / name / "answer.py"
    submission = folder / name
    submission.mkdir()
    if answer.exists():
        shutil.copy(answer, submission)
    if case.speaks:
        shutil.copy(FOLDER / "speaker.py", submission)
    texts = case.files | {
        path: start + middle * count + end
        for path, (start, middle, count, end) in case.repeats.items()
    }
    texts |= {f"part_{number}.py": "x = 1\n" for number in range(case.many)}
    for path, text in texts.items():
        (submission / path).parent.mkdir(parents=True, exist_ok=True)
        (submission / path).write_text(text, encoding="utf-8")
    for path, size in case.sizes.items():
        (submission / path).touch()
        os.truncate(submission / path, size)
    for path, target in case.links.items():
        (submission / path).symlink_to(canary if target == "CANARY" else target)
    for path in case.hard_links:
        os.link(canary, submission / path)
    for path in case.pipes:
        os.mkfifo(submission / path)
    return submission
