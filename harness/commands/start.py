"""What a candidate starts from: the brief, a file to fill in, and how to check it."""

from __future__ import annotations

from pathlib import Path

from harness.errors import UsageError
from harness.spec import Spec

_README = """\
# {title}

`brief.md` says what is asked. Write your answer in `{file}`, then check it here:

    pip install takehome
    takehome check {file} --spec {name}

The checks are those that grade your answer, on inputs drawn afresh each time. Your file runs in an
ordinary process on your machine; nothing is sent anywhere.
"""


def write_start(spec: Spec, folder: Path) -> list[Path]:
    """Write an assignment's files into a folder and return their paths.

    Raises:
        UsageError: one of them exists already; nothing is overwritten.
    """
    files = {
        folder / "brief.md": spec.brief,
        folder / spec.file_name: spec.starter,
        folder / "README.md": _README.format(title=spec.title, name=spec.name, file=spec.file_name),
    }
    if there := [path.name for path in files if path.exists()]:
        raise UsageError(f"{folder} has {', '.join(there)} already; choose another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, text in files.items():
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{folder} cannot be written ({error.strerror})") from None
    return list(files)
