"""Checks what a notebook has defined, with its card below the cell.

    from harness.notebook import check
    check(attention, spec="numpy_attention")

It runs in the notebook's own process: no file is written, nothing is isolated, and calls that do
not end are interrupted.
"""

from __future__ import annotations

import html
import importlib.metadata
import os
import platform
import secrets
from collections.abc import Mapping
from typing import Any, Final

import reports
import specs
from harness.candidate_view import for_candidate
from harness.commands.check_report import CheckReport
from harness.errors import UsageError
from harness.grading import grade_objects
from harness.language import Language, preferred_language
from harness.results import Card, Environment, Verdict
from harness.sandbox import Limits
from harness.spec import Spec

_HEIGHT: Final = 480


class CheckedObjects:
    """What a check found: text in a terminal, a card in a notebook."""

    def __init__(self, card: Card, language: Language) -> None:
        self.card = card
        report = CheckReport(card=card, file="", is_starter=False, language=language)
        self._text = "\n".join(line.plain for line in report.lines())

    @property
    def passed(self) -> bool:
        """Whether every check of the pass level passed."""
        return self.card.result.verdict is Verdict.PASSED

    def __repr__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        """Return the report, and the candidate's card in a frame that runs nothing."""
        page = html.escape(reports.render_candidate(for_candidate(self.card)), quote=True)
        return (
            f"<pre>{html.escape(self._text)}</pre>"
            f'<iframe sandbox="" title="takehome" srcdoc="{page}" '
            f'style="width: 100%; height: {_HEIGHT}px; border: 0"></iframe>'
        )


def check(
    *objects: Any,
    spec: str,
    seed: str | None = None,
    lang: str | None = None,
    seconds: float = Limits().exchange_seconds,
) -> CheckedObjects:
    """Check functions or classes against an assignment, on inputs drawn afresh.

    Each goes by its own name; a single one of another name stands for what the assignment is
    about. Checks that need what was not given are left out. A call is interrupted after so many
    seconds.

    Raises:
        UsageError: there is no such assignment, or it asks for nothing of that name.
    """
    loaded = specs.load(spec)
    named = _by_entry_point(objects, loaded)
    limits = Limits(exchange_seconds=seconds)
    card = grade_objects(named, loaded, seed or secrets.token_hex(8), _environment(), limits)
    return CheckedObjects(card, Language.load(lang or preferred_language(os.environ)))


def _by_entry_point(objects: tuple[Any, ...], spec: Spec) -> Mapping[str, Any]:
    """Return the objects by the names of the brief."""
    if spec.is_written:
        raise UsageError(f"{spec.name} is answered in writing; use takehome check on the form")
    points = {point.name: point for point in spec.entry_points}
    core = next((point.name for point in spec.entry_points if point.is_core), next(iter(points)))
    names = [getattr(one, "__name__", type(one).__name__) for one in objects]
    if len(objects) == 1 and names[0] not in points:
        names = [core]
    unknown = [name for name in names if name not in points]
    if unknown or not objects:
        given = ", ".join(unknown) or "nothing"
        raise UsageError(f"check was given {given}, expected some of {', '.join(points)}")
    return dict(zip(names, objects, strict=True))


def _environment() -> Environment:
    versions = {"takehome": "", "numpy": "", "torch": ""}
    for name in versions:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return Environment(
        takehome=versions["takehome"],
        sandbox="process",
        isolated=False,
        python=platform.python_version(),
        numpy=versions["numpy"],
        torch=versions["torch"],
    )
