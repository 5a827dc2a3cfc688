"""Results of a repository for everybody to read: JUnit, SARIF, annotations and a summary.

They are made of candidates' cards alone, so that no seed, expected value, answer or bug can be in
them, and each says in which file and line of the repository a finding lies.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
from junitparser import Failure, JUnitXml, Skipped, TestCase, TestSuite

from harness.candidate_view import CandidateCard, CandidateCheck
from harness.results import Level, Outcome, Verdict
from reports.files import save
from reports.summary import code
from reports.text import shown
from reports.words import LEVEL_WORDS, OUTCOMES, VERDICTS, points

SARIF_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
#: GitHub shows no more than ten annotations of a kind and step.
ANNOTATIONS: Final = 10
_SUMMARY_ROWS: Final = 1000
_FIELD: Final = 400


class PlacedCard(msgspec.Struct, frozen=True, kw_only=True):
    """What a candidate may know of one submission, and where it lies in the repository."""

    card: CandidateCard
    path: str  #: of the file or folder, with slashes, relative to the root
    is_folder: bool = False

    def file(self, name: str) -> str:
        """Return the path of one of its files."""
        return f"{self.path}/{name}" if self.is_folder and name else self.path

    def missed(self) -> Iterator[CandidateCheck]:
        """Yield the checks that did not pass by themselves."""
        for check in self.card.checks:
            if check.outcome.is_missed and check.outcome is not Outcome.NOT_RUN:
                yield check

    def place(self, check: CandidateCheck) -> tuple[str, int]:
        """Return the file and line of a finding; the first line where none is known."""
        return self.file(check.file or self._entry()), check.line or 1

    def _entry(self) -> str:
        return self.card.sources[0].name if self.card.sources else ""


def write_placed(cards: Sequence[PlacedCard], out: Path) -> None:
    """Write what may be uploaded from a job that anybody can read.

    Raises:
        Unwritable: the disk does not take it.
    """
    safe = [shown(placed, field=_FIELD) for placed in cards]
    save(out / "junit.xml", render_placed_junit(safe).encode())
    save(out / "results.sarif", render_sarif(safe).encode())
    save(out / "annotations.txt", render_annotations(safe).encode())
    save(out / "summary.md", render_placed_summary(safe).encode())


def render_placed_junit(cards: Iterable[PlacedCard]) -> str:
    """Return JUnit XML with the file and line of each case, as GitLab and others show them."""
    report = JUnitXml("takehome")
    for placed in cards:
        suite = TestSuite(placed.path)
        suite.add_testcases([_case(placed, check) for check in placed.card.checks])
        if not placed.card.checks:
            case = TestCase("gradeable", placed.path)
            case.result = [Failure(placed.card.reason, placed.card.verdict.value)]
            suite.add_testcase(case)
        report.add_testsuite(suite)
    report.update_statistics()  # type: ignore[no-untyped-call]  # junitparser has no types here
    content: bytes = report.tostring()  # type: ignore[no-untyped-call]
    return f'<?xml version="1.0" encoding="utf-8"?>\n{content.decode()}\n'


def _case(placed: PlacedCard, check: CandidateCheck) -> TestCase:
    case = TestCase(f"{check.id}: {check.title}", f"{placed.card.spec}.{placed.path}")
    file, line = placed.place(check)
    case._elem.set("file", file)
    case._elem.set("line", str(line))
    if check.outcome in (Outcome.NOT_RUN, Outcome.NOT_APPLICABLE):
        case.result = [Skipped(check.message or OUTCOMES[check.outcome].text)]
    elif check.outcome is not Outcome.PASSED:
        failure = Failure(_said(check), check.outcome.value)
        failure.text = "\n".join(filter(None, (_said(check), f"{file}:{line}", check.hint)))
        case.result = [failure]
    return case


def _said(check: CandidateCheck) -> str:
    """Return what the candidate's own code did, or else what is not so."""
    return check.message or f"not so: {check.title}"


def render_sarif(cards: Iterable[PlacedCard]) -> str:
    """Return SARIF 2.1.0: a rule for each check, a result for each that did not pass."""
    rules: dict[str, dict[str, Any]] = {}
    results, versions = [], set[str]()
    for placed in cards:
        versions.add(placed.card.versions.get("takehome", ""))
        for check in placed.missed():
            rules.setdefault(check.id, _rule(check))
            file, line = placed.place(check)
            region = {"artifactLocation": {"uri": _uri(file)}, "region": {"startLine": line}}
            results.append(
                {
                    "ruleId": check.id,
                    "level": "error" if check.level is Level.PASS else "warning",
                    "message": {"text": " ".join(filter(None, (_said(check), check.hint)))},
                    "locations": [{"physicalLocation": region}],
                }
            )
    driver: dict[str, Any] = {"name": "takehome", "rules": list(rules.values())}
    if version := max(versions, default=""):
        driver["version"] = version
    log = {
        "$schema": SARIF_SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }
    return json.dumps(log, ensure_ascii=False, indent=1) + "\n"


def _rule(check: CandidateCheck) -> dict[str, Any]:
    rule: dict[str, Any] = {"id": check.id, "shortDescription": {"text": check.title}}
    return {**rule, "help": {"text": check.hint}} if check.hint else rule


def _uri(path: str) -> str:
    return "".join(
        part if re.fullmatch(r"[A-Za-z0-9/._~-]", part) else _percent(part) for part in path
    )


def _percent(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "replace"))


def render_annotations(cards: Iterable[PlacedCard]) -> str:
    """Return GitHub workflow commands, one a line; no text of a candidate can make another."""
    lines = []
    for placed in cards:
        if not placed.card.checks and placed.card.verdict is not Verdict.PASSED:
            lines.append(_annotation("error", placed.path, 1, "takehome", placed.card.reason))
        for check in placed.missed():
            kind = "error" if check.level is Level.PASS else "warning"
            file, line = placed.place(check)
            lines.append(_annotation(kind, file, line, check.title, f"{_said(check)} {check.hint}"))
    return "".join(f"{line}\n" for line in lines[:ANNOTATIONS])


def _annotation(kind: str, file: str, line: int, title: str, text: str) -> str:
    fields = f"file={_property(file)},line={line},title={_property(title)}"
    return f"::{kind} {fields}::{_data(text)}"


def _data(text: str) -> str:
    """Spell text so that a runner takes none of it for a command."""
    spelled = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return spelled.replace("##[", "# #[").strip()


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def render_placed_summary(cards: Sequence[PlacedCard]) -> str:
    """Return Markdown for a job summary: no link, and text of a candidate is code only."""
    counts = Counter(placed.card.verdict for placed in cards)
    words = [f"**{counts[v]}** {VERDICTS[v].text.lower()}" for v in Verdict if counts[v]]
    lines = [f"## takehome\n\n{', '.join(words) or 'Nothing was graded'}.\n"]
    if cards:
        lines.append("| Submission | Verdict | Level | Points | First |\n|---|---|---|---:|---|")
    for placed in cards[:_SUMMARY_ROWS]:
        card = placed.card
        first = next((_said(check) for check in placed.missed()), card.reason)
        cells = (
            code(placed.path),
            f"{VERDICTS[card.verdict].sign} {VERDICTS[card.verdict].text}",
            " ".join(LEVEL_WORDS[card.level]).strip(),
            "–" if card.earned is None else f"{points(card.earned)} / {points(card.possible)}",
            code(first),
        )
        lines.append(f"| {' | '.join(cell.replace('|', '│') for cell in cells)} |")
    if len(cards) > _SUMMARY_ROWS:
        lines.append(f"\n{len(cards) - _SUMMARY_ROWS} more are in `junit.xml`.")
    return "\n".join(lines) + "\n"
