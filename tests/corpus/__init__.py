"""The cases that grading is tested with beside the samples: made of bases and one patch each.

    python -m tests.corpus write DIR

A folder per assignment: ``bases/`` has right answers in several styles, ``wrong/`` and ``bad/``
one case per file. A ``.patch`` names its base, which is a file of ``bases/`` or a right sample;
a case with a form of its own lies there whole.
"""

import dataclasses
from collections.abc import Iterator
from pathlib import Path

from tests.corpus import patches

__all__ = ["CORPUS", "Case", "assignments", "cases", "write"]

CORPUS = Path(__file__).parent
SAMPLES = CORPUS.parents[1] / "sample_submissions"
KINDS = ("wrong", "bad")


@dataclasses.dataclass(frozen=True)
class Case:
    """One submission: its file's name, and what is in it."""

    name: str
    content: bytes


def assignments() -> list[str]:
    """Return the names of all assignments that have cases."""
    return sorted(path.parent.name for path in CORPUS.glob("*/expected.toml"))


def cases(assignment: str) -> Iterator[Case]:
    """Yield the cases of one assignment.

    Raises:
        PatchMismatch: A patch does not fit its base, or its name is another than its file's.
    """
    for kind in KINDS:
        for path in sorted((CORPUS / assignment / kind).glob("*")):
            if path.suffix == ".patch":
                yield _patched(assignment, f"{kind}_{path.stem}", path.read_bytes().decode())
            else:
                yield Case(f"{kind}_{path.name}", path.read_bytes())


def _patched(assignment: str, identifier: str, patch: str) -> Case:
    base, name = patches.names(patch)
    if Path(name).stem != identifier:
        raise patches.PatchMismatch(f"{identifier} makes {name}, expected a file of its own name")
    own = CORPUS / assignment / "bases" / base
    source = own if own.exists() else SAMPLES / assignment / base
    return Case(name, patches.apply(source.read_bytes().decode(), patch).encode())


def write(folder: Path) -> int:
    """Write a gradeable folder per assignment, ``expected.toml`` included; return how many cases."""
    count = 0
    for assignment in assignments():
        target = folder / assignment
        target.mkdir(parents=True, exist_ok=True)
        expected = (CORPUS / assignment / "expected.toml").read_bytes()
        (target / "expected.toml").write_bytes(expected)
        for case in cases(assignment):
            (target / case.name).write_bytes(case.content)
            count += 1
    return count
