"""The batch as a page: who did how well, which bugs were seen, what could not be graded."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import Final

import msgspec

from harness.results import (
    LEVELS,
    BatchResults,
    CheckResult,
    Level,
    SubmissionResult,
    Verdict,
)
from reports.pages import fitting, pages
from reports.text import card_link, shown
from reports.words import LEVEL_WORDS, VERDICTS, Word, best_first, failing

#: Most bytes of the page.
INDEX: Final = 2 * 1024 * 1024

#: Ever tighter caps: characters of one text, and rows.
CAPS: Final = ((4096, 2000), (400, 1000), (60, 400))


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One submission of the batch."""

    result: SubmissionResult
    link: str  #: address of its card, "" when there is none
    verdict: Word
    level: tuple[str, str]
    missed: tuple[CheckResult, ...]
    share: int  #: percent of the points, 0 when it is not scored


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexPage:
    """What the template of the batch shows."""

    batch: BatchResults
    counts: tuple[tuple[Word, int], ...]  #: by verdict
    levels: tuple[tuple[tuple[str, str], int], ...]  #: best first
    bugs: tuple[tuple[str, int], ...]  #: most frequent first
    graded: tuple[Row, ...]  #: best first
    refused: tuple[Row, ...]  #: ungradeable and invalid, with reasons
    broken: int  #: how many are invalid
    hidden: int  #: rows left out


def render_index(results: BatchResults) -> str:
    """Return the page of a batch: self-contained HTML of at most 2 MiB, best submission first."""
    return fitting((partial(_render, results, field, rows) for field, rows in CAPS), INDEX)


def _render(results: BatchResults, field: int, rows: int) -> str:
    return pages().render("index.html", index_page(results, field=field, rows=rows))


def index_page(
    results: BatchResults, *, field: int = CAPS[0][0], rows: int = CAPS[0][1]
) -> IndexPage:
    """Lay out a batch; figures count every submission, also those beyond ``rows``."""
    everyone = results.submissions
    kept = [_row(shown(one, field=field)) for one in best_first(everyone)[:rows]]
    verdicts = Counter(one.verdict for one in everyone)
    levels = Counter(one.level for one in everyone if one.earned is not None)
    bugs = Counter(title for one in everyone for title in {bug.title for bug in one.diagnosis})
    scored = (Verdict.PASSED, Verdict.FAILED)
    return IndexPage(
        batch=shown(msgspec.structs.replace(results, submissions=()), field=field),
        counts=tuple((VERDICTS[v], verdicts[v]) for v in Verdict if verdicts[v]),
        levels=tuple(
            (LEVEL_WORDS[level], levels[level])
            for level in reversed(LEVELS)
            if levels[level] and level is not Level.NONE
        ),
        bugs=tuple((shown(title, field=field), count) for title, count in bugs.most_common(12)),
        graded=tuple(row for row in kept if row.result.verdict in scored),
        refused=tuple(row for row in kept if row.result.verdict not in scored),
        broken=verdicts[Verdict.INVALID],
        hidden=len(everyone) - len(kept),
    )


def _row(result: SubmissionResult) -> Row:
    return Row(
        result=result,
        link=card_link(result.card),
        verdict=VERDICTS[result.verdict],
        level=LEVEL_WORDS[result.level],
        missed=failing(result.checks),
        share=round(100 * (result.earned or 0) / result.possible) if result.possible else 0,
    )
