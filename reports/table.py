"""The batch as a table for spreadsheets and scripts: one row per submission."""

from __future__ import annotations

import csv
import io
from typing import Final

from harness.results import BatchResults, SubmissionResult
from harness.text import join_lines
from reports.text import card_link, shown
from reports.words import failing

#: The columns before those of the checks.
COLUMNS: Final = (
    "id",
    "verdict",
    "level",
    "earned",
    "possible",
    "flaw",
    "bug",
    "stage",
    "missed",
    "reason",
    "seconds",
    "sha256",
    "card",
)

# What a spreadsheet takes for the start of a formula (OWASP ASVS 5.0, 1.2.10), and the full-width
# forms that some of them accept as well.
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\0", "＝", "＋", "－", "＠")


def render_csv(results: BatchResults) -> str:
    """Return RFC 4180 text: a header, then one line per submission in the order of the results.

    After the fixed columns comes one per check, named by the check's id, with its outcome.
    A text that a spreadsheet would take for a formula starts with an apostrophe.
    """
    checks = list(dict.fromkeys(check.id for one in results.submissions for check in one.checks))
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow([_cell(name) for name in (*COLUMNS, *checks)])
    for submission in results.submissions:
        writer.writerow([_cell(value) for value in _row(shown(submission), checks)])
    return buffer.getvalue()


def _row(result: SubmissionResult, checks: list[str]) -> list[str | int | float | None]:
    outcomes = {check.id: check.outcome.value for check in result.checks}
    scored = result.earned is not None
    return [
        result.id,
        result.verdict.value,
        result.level.value if scored else None,
        result.earned,
        result.possible,
        "; ".join(bug.flaw for bug in result.diagnosis),
        "; ".join(bug.title for bug in result.diagnosis),
        "; ".join(bug.stage for bug in result.diagnosis),
        len(failing(result.checks)) if result.checks else None,
        result.reason,
        round(result.seconds, 3),
        result.sha256,
        card_link(result.card),
        *(outcomes.get(check) for check in checks),
    ]


def _cell(value: str | int | float | None) -> str | int | float | None:
    if not isinstance(value, str):
        return value
    return formula_safe(join_lines(value))


def formula_safe(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(_FORMULA) else text
