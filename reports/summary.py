"""The batch as Markdown for a job summary or a pull request."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import partial
from typing import Final

from harness.results import BatchResults, Level, Outcome, SubmissionResult, Verdict
from harness.text import join_lines
from reports.pages import fitting
from reports.text import card_link, clip, shown
from reports.words import LEVEL_WORDS, VERDICTS, best_first, failing, plural, score

#: Most bytes; a GitHub job summary may have 1 MiB.
SUMMARY: Final = 1_000_000

#: Ever tighter caps: characters of one text, and submissions.
_CAPS: Final = ((400, 2000), (120, 1000), (40, 400))

#: Checks that a submission's paragraph names.
_MISSED: Final = 5


def render_summary(results: BatchResults) -> str:
    """Return Markdown (CommonMark and tables) in which text of a submission is only ever code.

    In a code span nothing is a mention, an image, a link or a tag.
    """
    return fitting((partial(_render, results, field, rows) for field, rows in _CAPS), SUMMARY)


def _render(results: BatchResults, field: int, rows: int) -> str:
    kept = [shown(one, field=field) for one in best_first(results.submissions)[:rows]]
    hidden = len(results.submissions) - len(kept)
    parts = [
        f"## {plain(clip(results.title, field))}",
        _counts(results.submissions),
        _table(kept),
        f"{plural(hidden, 'more submission')}: see `results.csv`." if hidden else "",
        *(_paragraph(one) for one in kept if one.verdict is not Verdict.PASSED),
        f"{', '.join(map(code, results.specs))} in {_where(results)}.",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _counts(submissions: Iterable[SubmissionResult]) -> str:
    counts = Counter(one.verdict for one in submissions)
    words = [f"**{counts[v]}** {VERDICTS[v].text.lower()}" for v in Verdict if counts[v]]
    return ", ".join(words) + "." if words else "Nothing was graded."


def _table(submissions: list[SubmissionResult]) -> str:
    if not submissions:
        return ""
    lines = ["| Submission | Verdict | Level | Score | Bug |", "|---|---|---|---:|---|"]
    for one in submissions:
        word = VERDICTS[one.verdict]
        bugs = "; ".join(code(bug.title) for bug in one.diagnosis)
        cells = (_name(one), f"{word.sign} {word.text}", _level(one), score(one), bugs)
        # A bar ends a cell, and parsers differ on how to escape one; a box-drawing line does not.
        lines.append(f"| {' | '.join(cell.replace('|', '│') for cell in cells)} |")
    return "\n".join(lines)


def _name(one: SubmissionResult) -> str:
    link = card_link(one.card)
    return f"[{code(one.id)}]({link})" if link else code(one.id)


def _level(one: SubmissionResult) -> str:
    english, chinese = LEVEL_WORDS[one.level]
    if one.level is Level.NONE and one.earned is None:
        return "–"
    return f"{english} {chinese}".strip()


def _paragraph(one: SubmissionResult) -> str:
    """Say in a few lines why a submission did not pass."""
    lines = [f"**{code(one.id)}**"]
    if one.reason:
        lines.append(f"- {code(one.reason)}")
    if one.cause:
        lines.append(f"- {code(one.cause.text)}")
    lines += [f"- {code(bug.title)}: {code(bug.confidence)}" for bug in one.diagnosis]
    missed = [c for c in failing(one.checks) if c.outcome is not Outcome.NOT_RUN]
    idle = sum(check.outcome is Outcome.NOT_RUN for check in one.checks)
    for check in missed[:_MISSED]:
        line = f" (line {check.line})" if check.line else ""
        message = f": {code(check.message)}{line}" if check.message else ""
        lines.append(f"- {check.outcome.value.replace('_', ' ')}, {code(check.id)}{message}")
    if len(missed) > _MISSED:
        lines.append(f"- and {plural(len(missed) - _MISSED, 'more check')}")
    if idle:
        lines.append(f"- {plural(idle, 'check')} could not run")
    return lines[0] + "\n\n" + "\n".join(lines[1:]) if len(lines) > 1 else ""


def _where(results: BatchResults) -> str:
    environment = results.environment
    isolation = "isolated" if environment.isolated else "**not isolated**"
    return f"the {code(environment.sandbox)} sandbox, {isolation}"


def code(text: str) -> str:
    """Return a text as a code span that nothing inside can end."""
    text = join_lines(shown(text))
    if not text:
        return ""
    fence = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def plain(text: str) -> str:
    """Return a text with every character escaped that Markdown could take for its own."""
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", join_lines(shown(text)))
