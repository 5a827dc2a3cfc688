"""The sentence of the verdict: what an interviewer reads first, and often last."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from harness.results import LEVELS, Card, Outcome, Question, SubmissionResult, Verdict
from reports.repair import Change
from reports.text import card_link
from reports.words import CAUSES, LEVEL_WORDS, VERDICTS, Word, bugs_of, failing, happening, plural

_NUMBERS: Final = ("No", "One", "Two", "Three", "Four", "Five", "Six")


@dataclass(frozen=True, slots=True, kw_only=True)
class RanCode:
    """What became of the code in a written answer."""

    verdict: Word
    sentence: str
    link: str  #: to its card, from the form's


def ran_code(question: Question) -> RanCode | None:
    """Return what became of the code in an answer; None where there is none, or it was not run."""
    if (card := question.code) is None:
        return None
    link = card_link(card.result.card).rpartition("/")[2]
    return RanCode(verdict=VERDICTS[card.result.verdict], sentence=sentence(card, None), link=link)


def sentence(card: Card, change: Change | None) -> str:
    """Return the verdict in one sentence, with the place of the repair where there is one."""
    result = card.result
    if result.verdict in (Verdict.UNGRADEABLE, Verdict.INVALID, Verdict.AWAITING_REVIEW):
        return result.reason or "No reason was recorded"
    if result.cause and result.verdict is Verdict.FAILED:
        return f"{CAUSES[result.cause.kind]}: {result.cause.text}"
    if result.verdict is Verdict.PASSED:
        return _passed(result, card, change)
    if card.repair and change:
        return f"{_count(card.repair.lines, 'line')} from passing: {_place(change)}{_bugs(result)}"
    if result.diagnosis:
        return _named(result)
    missed = [c for c in failing(result.checks) if c.outcome is not Outcome.NOT_RUN]
    return (
        f"{len(missed)} of {plural(len(result.checks), 'check')} fail, and no known mistake "
        "explains it"
    )


def highest_level(result: SubmissionResult) -> bool:
    """Tell whether the level that was reached is the highest that the assignment has."""
    offered = max((LEVELS.index(check.level) for check in result.checks), default=0)
    return LEVELS.index(result.level) == offered > 0


def _passed(result: SubmissionResult, card: Card, change: Change | None) -> str:
    missed = [c for c in failing(result.checks) if c.outcome is not Outcome.NOT_RUN]
    if not missed:
        return "Right: every check passes"
    if card.repair and change:
        lines = _count(card.repair.lines, "line").lower()
        return f"Right as asked, and {lines} from every check: {_place(change)}{_bugs(result)}"
    above = " and ".join(dict.fromkeys(LEVEL_WORDS[check.level][0] for check in missed))
    checks = plural(len(missed), "check")
    verb = "does" if len(missed) == 1 else "do"
    return f"Right as asked; {checks} for {above} {verb} not hold: {_lowered(happening(result))}"


def _named(result: SubmissionResult) -> str:
    flaws = len(bugs_of(result))
    complete = all(bug.complete for bug in result.diagnosis)
    which = f": {_bugs(result)}" if flaws == 1 else f", in {_stages(result)}"
    rest = "" if complete else "; more fails than that explains"
    return f"{_count(flaws, 'bug')}{which}{rest}"


def _stages(result: SubmissionResult) -> str:
    stages = dict.fromkeys(s for bug in result.diagnosis for s in bug.stages or (bug.stage,))
    *others, last = stages
    return f"{', '.join(others)} and {last}" if others else last


def _bugs(result: SubmissionResult) -> str:
    """Return the titles of the bugs that are named."""
    return "; ".join(bug.title for bug in bugs_of(result)) or "an edit makes every check pass"


def _place(change: Change) -> str:
    if len(change.places) == 1:
        return f"line {change.places[0]}: "
    return f"lines {', '.join(map(str, change.places))}: " if change.places else ""


def _count(number: int, noun: str) -> str:
    word = _NUMBERS[number] if number < len(_NUMBERS) else str(number)
    return f"{word} {noun}{'' if number == 1 else 's'}"


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:] if text[1:2].islower() else text
