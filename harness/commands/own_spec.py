"""An assignment of one's own: the files to start from, and the proof that it can be trusted."""

from __future__ import annotations

import importlib.resources
import string
from collections.abc import Iterator
from pathlib import Path

from harness.commands.check import check_file
from harness.commands.spec_proof import Problem, prove
from harness.errors import UsageError
from harness.results import Verdict
from harness.spec import Spec

#: File of the template -> where it goes in the folder of the new spec.
FILES = {
    "spec.py.txt": "spec.py",
    "brief.md": "brief.md",
    "starter.py.txt": "starter.py",
    "right.py.txt": "samples/right_norm.py",
    "wrong.py.txt": "samples/wrong_wrong-axis.py",
}
#: What the verdict of a sample is, by the first word of its name.
VERDICTS = {"right": Verdict.PASSED, "wrong": Verdict.FAILED}


def write_spec(name: str, folder: Path) -> list[Path]:
    """Write the files of a small working spec into ``folder/name`` and return their paths.

    Raises:
        UsageError: the name is no identifier, or the folder is there already.
    """
    if not name.isidentifier():
        raise UsageError(f"name is {name!r}, expected letters, digits and _; choose another")
    target = folder / name
    if target.exists():
        raise UsageError(f"{target} is there already; choose another name or folder")
    template = importlib.resources.files("harness.commands").joinpath("spec_template")
    values = {"name": name, "title": name.replace("_", " ").capitalize()}
    written = []
    try:
        for source, destination in FILES.items():
            text = string.Template(template.joinpath(source).read_text("utf-8"))
            path = target / destination
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.substitute(values), encoding="utf-8")
            written.append(path)
    except OSError as error:
        raise UsageError(f"{target} cannot be written ({error.strerror})") from None
    return written


def examine_spec(spec: Spec, samples: Path, seeds: list[str]) -> Iterator[Problem]:
    """Yield what is wrong with a spec and with the samples beside it.

    A sample is named ``right_….py`` or ``wrong_<flaw>.py``; a wrong one whose name is the id of
    a flaw must get that name.
    """
    yield from prove(spec, seeds)
    flaws = {flaw.id for flaw in spec.flaws}
    for file in sorted(samples.glob("*.py")):
        kind, _, mistake = file.stem.partition("_")
        if kind not in VERDICTS:
            yield Problem(file.name, "its name begins with neither right_ nor wrong_; rename it")
            continue
        result = check_file(file, spec).result
        if result.verdict is not VERDICTS[kind]:
            yield Problem(file.name, f"is {result.verdict}, expected {VERDICTS[kind]}")
        elif kind == "wrong" and mistake in flaws:
            named = [one.flaw for one in result.diagnosis]
            if named != [mistake]:
                yield Problem(file.name, f"is named {named or 'nothing'}, expected {mistake}")
