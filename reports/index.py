"""The batch as a page: who did how well, what happened to each, and what the cohort shares.

Up to ``ROWS`` submissions stand in the page as they are, so that it reads without its script. A
larger batch is carried as data that the script draws, and stands in plain pages of ``ROWS`` for
readers without one.
"""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import msgspec
from markupsafe import Markup

from harness.results import BatchResults, Level, Points, Stage, SubmissionResult, Verdict
from harness.reviews import Choice
from harness.similarity import LookAlike
from harness.text import join_lines
from reports.cohort import (
    CheckStatistics,
    LevelCount,
    bug_counts,
    check_statistics,
    columns,
    level_counts,
    strip_letters,
)
from reports.opinions import Opinions
from reports.pages import TEMPLATES, fitting, pages
from reports.strips import Strip, draw_strip
from reports.text import card_link, shown
from reports.words import CHOICES, LEVEL_WORDS, VERDICTS, Word, best_first, bugs_of, happening

#: Rows of one page.
ROWS: Final = 1000

#: Most pairs that are listed.
PAIRS: Final = 50

#: Most bytes of the page, at 10,000 submissions.
INDEX: Final = 6_000_000

#: Ever tighter caps: characters of one text, and submissions.
CAPS: Final = ((300, 20_000), (120, 10_000), (40, 2_000))


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One submission of the batch."""

    id: str
    link: str  #: address of its card, "" when there is none
    verdict: Verdict
    level: Level
    earned: Points | None
    possible: Points
    happening: str
    line: int | None  #: of the source, where what happened has one
    bugs: tuple[str, ...]
    stages: tuple[Stage, ...]
    letters: str  #: the outcomes of its checks
    choice: Choice
    reviewer: str  #: who made the choice

    @property
    def strip(self) -> Strip:
        return draw_strip(self.letters)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two submissions that a person should look at together."""

    names: tuple[str, str]
    links: tuple[str, str]
    is_same_file: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexPage:
    """What the template of the batch shows."""

    batch: BatchResults
    counts: tuple[tuple[Word, int], ...]  #: by verdict
    levels: tuple[LevelCount, ...]  #: best first
    bugs: tuple[tuple[str, int], ...]  #: most frequent first
    checks: tuple[CheckStatistics, ...]  #: those that separate people first
    rates: tuple[CheckStatistics, ...]  #: in the order of the strips
    rows: tuple[Row, ...]  #: best first
    number: int  #: of this page, from 1
    addresses: tuple[str, ...]  #: of all pages
    total: int
    pairs: tuple[Pair, ...]  #: to be looked at together
    more_pairs: int
    broken: int  #: how many are invalid
    hidden: int  #: submissions left out
    decided: int  #: how many have a decision
    data: Markup  #: everything the script needs, as JSON; "" on plain pages
    script: Markup
    script_hash: str  #: what the Content-Security-Policy lets run


def render_index(
    results: BatchResults,
    opinions: Opinions | None = None,
    look_alikes: Sequence[LookAlike] = (),
) -> str:
    """Return the page of a batch: self-contained HTML of at most 6 MB, best submission first."""
    return render_pages(results, opinions, look_alikes)["index.html"]


def render_pages(
    results: BatchResults,
    opinions: Opinions | None = None,
    look_alikes: Sequence[LookAlike] = (),
) -> dict[str, str]:
    """Return the page of a batch and, beyond ``ROWS``, the plain pages after it, by file name."""
    cohort = _Cohort(results, opinions or Opinions(), look_alikes)
    first = fitting((partial(cohort.page, 0, *caps) for caps in CAPS), INDEX)
    others = {
        cohort.addresses[number]: cohort.page(number, *CAPS[0])
        for number in range(1, len(cohort.addresses))
    }
    return {"index.html": first, **others}


class _Cohort:
    """A batch, ranked and counted once for all of its pages."""

    def __init__(
        self, results: BatchResults, opinions: Opinions, look_alikes: Sequence[LookAlike]
    ) -> None:
        self._look_alikes = look_alikes
        self._results = results
        self._opinions = opinions
        self._ranked = best_first(results.submissions)
        self._places = columns(self._ranked)
        self._letters = {
            (one.spec, one.id): strip_letters(one, self._places) for one in self._ranked
        }
        self._checks = check_statistics(self._ranked)
        count = min(-(-len(self._ranked) // ROWS), CAPS[0][1] // ROWS)
        names = (f"index-{number}.html" for number in range(2, count + 1))
        self.addresses = ("index.html", *names)

    def page(self, number: int, field: int, most: int) -> str:
        """Render one page with texts of at most ``field`` characters, of ``most`` submissions."""
        return pages().render("index.html", self.view(number, field, most))

    def view(self, number: int, field: int, most: int) -> IndexPage:
        everyone = self._results.submissions
        kept = self._ranked[:most]
        verdicts = Counter(one.verdict for one in everyone)
        bare = msgspec.structs.replace(self._results, submissions=())
        script = (TEMPLATES / "cohort.js").read_text(encoding="utf-8")
        rows = tuple(self._row(one, field) for one in kept[number * ROWS : (number + 1) * ROWS])
        bugs = bug_counts(everyone)
        return IndexPage(
            batch=shown(bare, field=field),
            counts=tuple((VERDICTS[v], verdicts[v]) for v in Verdict if verdicts[v]),
            levels=level_counts(everyone),
            bugs=tuple((shown(title, field=field), count) for title, count in bugs[:200]),
            checks=tuple(_clipped(one, field) for one in self._checks),
            rates=tuple(
                _clipped(one, field) for one in sorted(self._checks, key=lambda one: one.place)
            ),
            rows=rows,
            number=number + 1,
            addresses=self.addresses,
            pairs=self._pairs(field),
            more_pairs=max(0, len(self._look_alikes) - PAIRS),
            total=len(everyone),
            broken=verdicts[Verdict.INVALID],
            hidden=len(everyone) - len(kept),
            decided=sum(self._is_decided(one) for one in everyone),
            data=Markup("") if number else self._data(kept, field),
            script=Markup(script),
            script_hash=_script_hash(script),
        )  # fmt: skip

    def _pairs(self, field: int) -> tuple[Pair, ...]:
        links = {one.id: card_link(one.card) for one in self._results.submissions}
        return tuple(
            Pair(
                names=(shown(pair.left, field=field), shown(pair.right, field=field)),
                links=(links.get(pair.left, ""), links.get(pair.right, "")),
                is_same_file=pair.is_same_file,
            )
            for pair in self._look_alikes[:PAIRS]
        )

    def _is_decided(self, result: SubmissionResult) -> bool:
        decision = self._opinions.standing(result.id)
        return decision is not None and decision.choice is not Choice.UNDECIDED

    def _row(self, result: SubmissionResult, field: int) -> Row:
        decision = self._opinions.standing(result.id)
        return Row(
            id=shown(result.id, field=field),
            link=card_link(result.card),
            verdict=result.verdict,
            level=result.level,
            earned=result.earned,
            possible=result.possible,
            happening=shown(join_lines(happening(result)), field=field),
            line=_line(result),
            bugs=tuple(shown(bug.title, field=field) for bug in bugs_of(result)),
            stages=tuple(
                sorted({s for bug in result.diagnosis for s in bug.stages or (bug.stage,)})
            ),
            letters=self._letters[result.spec, result.id],
            choice=decision.choice if decision else Choice.UNDECIDED,
            reviewer=shown(decision.reviewer, field=field) if decision else "",
        )

    def _data(self, kept: Sequence[SubmissionResult], field: int) -> Markup:
        """Return all submissions as JSON that no text can leave."""
        table = _Texts()
        rows = [list(self._entry(self._row(one, field), table)) for one in kept]
        content = {
            "verdicts": [[*VERDICTS[verdict]] for verdict in Verdict],
            "levels": [[*LEVEL_WORDS[level]] for level in Level],
            "choices": [[choice.value, *CHOICES[choice]] for choice in Choice],
            "checks": [shown(name, field=field) for name in self._places],
            "texts": table.texts,
            "rows": rows,
        }
        encoded = msgspec.json.encode(content).decode()
        return Markup(encoded.replace("<", "\\u003c").replace("\u2028", "\\u2028"))

    def _entry(self, row: Row, table: _Texts) -> Iterator[object]:
        """Yield the fields of a row, in the order in which the script reads them."""
        yield row.id
        yield row.link.removeprefix("cards/").removesuffix(".html")
        yield list(Verdict).index(row.verdict)
        yield list(Level).index(row.level)
        yield row.earned
        yield row.possible
        yield table.place(row.happening)
        yield row.line
        yield [table.place(bug) for bug in row.bugs]
        yield [table.place(stage) for stage in row.stages]
        yield row.letters
        yield list(Choice).index(row.choice)
        yield row.reviewer


def _line(result: SubmissionResult) -> int | None:
    """Return the line of the cause, unless its sentence has it."""
    if result.cause is None or f"line {result.cause.line}" in result.cause.text:
        return None
    return result.cause.line


class _Texts:
    """Texts that many rows share, each carried once."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._places: dict[str, int] = {}

    def place(self, text: str) -> int:
        if text not in self._places:
            self._places[text] = len(self.texts)
            self.texts.append(text)
        return self._places[text]


def _clipped(one: CheckStatistics, field: int) -> CheckStatistics:
    return CheckStatistics(
        id=shown(one.id, field=field),
        title=shown(one.title, field=field),
        place=one.place,
        passed=one.passed,
        total=one.total,
        separation=one.separation,
    )


def _script_hash(script: str) -> str:
    digest = hashlib.sha256(script.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
