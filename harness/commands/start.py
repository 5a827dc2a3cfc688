"""What a candidate starts from: the brief, a file to fill in, and how to check it."""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.errors import UsageError
from harness.language import Language, message
from harness.spec import Spec

_README = message(
    """\
# {title}

`brief.md` says what is asked. Write your answer in `{file}`, then check it here:

    {install}
    takehome check {file} --spec {name}

{source}The checks are those that grade your answer, on inputs drawn afresh each time. Your file
runs in an ordinary process on your machine; nothing is sent anywhere.
"""
)
_ABOUT_WHEEL = message("The wheel came with this assignment; it needs Python 3.11 or newer.")


def installed_from(url: Mapping[str, Any], version: str) -> str:
    """Return what a candidate's ``pip install`` takes: the repository's address, or a wheel.

    ``url`` is the installation's ``direct_url.json``; one from a package index has none.
    """
    if vcs := url.get("vcs_info"):
        return f"takehome@{vcs['vcs']}+{url['url']}@{vcs['commit_id']}"
    return f"./takehome-{version}-py3-none-any.whl"


def own_source() -> str:
    """Return what a candidate installs to have this takehome."""
    try:
        distribution = importlib.metadata.distribution("takehome")
    except importlib.metadata.PackageNotFoundError:  # a checkout that is run in place
        return installed_from({}, "0")
    text = distribution.read_text("direct_url.json") or "{}"
    return installed_from(json.loads(text), distribution.version)


def drawn(spec: Spec, wanted: Sequence[str] | int, seed: str) -> Spec:
    """Return the assignment with the questions that are wanted, or so many drawn by level.

    Raises:
        UsageError: its questions cannot be chosen, or there are none such.
    """
    if spec.forms is None:
        raise UsageError(
            f"{spec.name} has no questions to choose, expected written_answers; leave out "
            "--questions and --draw"
        )
    return spec.forms.draw(wanted, seed)


def write_start(
    spec: Spec, folder: Path, source: str, *, brief: str, language: Language
) -> list[Path]:
    """Write an assignment's files into a folder and return their paths.

    Args:
        source: what candidates give to ``pip install``.
        brief: in that language, if it has been written there.

    Raises:
        UsageError: one of them exists already; nothing is overwritten.
    """
    files = {
        folder / "brief.md": brief,
        folder / spec.file_name: spec.starter,
        folder / "README.md": language(
            _README,
            title=language.sentence(spec.title),
            name=spec.name,
            file=spec.file_name,
            install=f"pip install {source}",
            source=language(_ABOUT_WHEEL) + "\n\n" if source.endswith(".whl") else "",
        ),
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
