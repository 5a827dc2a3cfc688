"""What ``takehome check`` tells the author of a file: one sentence, then what to mend first.

The inputs were drawn on the author's own machine and are secret nowhere, so that expected values
are shown. The bug is not named: the evidence says where to look, and finding it is the task.
"""

from __future__ import annotations

import functools
import textwrap
from collections.abc import Iterator, Sequence
from math import prod
from typing import Final

import msgspec
import numpy as np
from rich.text import Text

from harness.candidate import undefined_message
from harness.candidate_view import can_be_called_again, snippet
from harness.language import Language, message
from harness.results import (
    LEVELS,
    Array,
    Card,
    CauseKind,
    CheckResult,
    Evidence,
    Facet,
    Level,
    Outcome,
    Verdict,
)

#: The names of the levels; in Chinese they are the third source document's.
LEVEL_NAMES = {
    Level.PASS: message("pass"),
    Level.GOOD: message("good"),
    Level.EXCELLENT: message("excellent"),
}
#: How a check ended, in a word.
OUTCOME_NAMES = {
    Outcome.PASSED: message("passed"),
    Outcome.FAILED: message("failed"),
    Outcome.RAISED: message("raised"),
    Outcome.TIMED_OUT: message("timed out"),
    Outcome.OUT_OF_RESOURCES: message("over limit"),
    Outcome.CRASHED: message("crashed"),
    Outcome.PROTOCOL_VIOLATION: message("violation"),
    Outcome.NOT_RUN: message("not run"),
    Outcome.NOT_APPLICABLE: message("not asked"),
    Outcome.INVALID: message("invalid"),
}

#: What a cause answers with no.
CAUSES = {
    CauseKind.LOAD: message("It does not load: {fact}"),
    CauseKind.PACKAGE: message("A package is missing: {fact}"),
    CauseKind.DEFINITION: message("Something is not defined: {fact}"),
    CauseKind.CALL: message("It cannot be called as the brief says: {fact}"),
    CauseKind.RETURN: message("A call returns something else than asked: {fact}"),
    CauseKind.SHAPE: message("A call returns other shapes than asked: {fact}"),
    CauseKind.RAISED: message("Every call raises: {fact}"),
    CauseKind.LIMIT: message("It left its limits: {fact}"),
}
#: How a check says that what it asks about is not there.
_UNDEFINED: Final = undefined_message("{").partition("{")[0]
#: An array of more values is shown where it differs only, at so many places.
_VALUES, _PLACES = 32, 4
_INDENT = "  "


class CheckReport(msgspec.Struct, frozen=True, kw_only=True):
    """A checked file and how it is told."""

    card: Card
    file: str  #: as the user named it; "" in a notebook
    is_starter: bool  #: the file is still as it was handed out
    language: Language
    verbose: bool = False
    quiet: bool = False

    def sentence(self) -> str:
        """Say in one sentence what the file came to."""
        translate, result = self.language, self.card.result
        if result.verdict is Verdict.INVALID:
            return translate("The check itself broke, not your file: {fact}", fact=result.reason)
        if self.is_starter:
            return translate("Not written yet: this is the starter as it was handed out.")
        if result.verdict is Verdict.UNGRADEABLE:
            return translate("It cannot be checked: {fact}", fact=translate.sentence(result.reason))
        if result.verdict is Verdict.AWAITING_REVIEW:
            return translate(
                "A person has to read it: {fact}", fact=translate.sentence(result.reason)
            )
        if result.cause:
            fact = translate.sentence(result.cause.text)
            if any(bug.flaw == "returns-none" for bug in result.diagnosis):
                return translate("Not written yet, or without a return: {fact}", fact=fact)
            return translate(CAUSES[result.cause.kind], fact=fact)
        if missed := first_cause_first(self.card):
            fact = translate.sentence(missed[0].message or missed[0].title)
            if result.verdict is Verdict.PASSED:
                level = translate(LEVEL_NAMES[result.level])
                return translate(
                    "It passes at level {level}, and then: {fact}", level=level, fact=fact
                )
            return translate("Not right yet: {fact}", fact=fact)
        return translate("Right: every check passes.")

    def lines(self) -> Iterator[Text]:
        """Yield what is told, line by line, for a terminal of any width."""
        failed = self.card.result.verdict is not Verdict.PASSED
        yield Text(self.sentence(), style="bold red" if failed else "bold green")
        if self.quiet:
            return
        missed = first_cause_first(self.card)
        if missed and not self.is_starter:
            yield from self._first(missed[0])
            yield from self._others(missed[1:])
        if self.verbose:
            yield from self._all()
        yield from self._counts()

    def _first(self, check: CheckResult) -> Iterator[Text]:
        """Yield what is to be mended first, with an example, a hint, and what to do next.

        What keeps every check from running is told by its place alone: what the check that met
        it asks is beside the point.
        """
        translate, caused = self.language, self.card.result.cause is not None
        yield Text()
        if not caused:
            yield Text(f"✕ {translate.sentence(check.title)}", style="red")
        if place := self._place(check):
            yield Text(_INDENT + place)
        if check.hint and not caused:
            hint = translate.sentence(check.hint)
            yield Text(_INDENT + translate("hint: {hint}", hint=hint), style="cyan")
        if example := _example(self.card, check):
            yield from self._example(example)
        again = translate("next: mend this, then run the cell again")
        if self.file:
            again = translate(
                "next: mend this, then run takehome check {file} again", file=self.file
            )
        yield Text(again)
        if not caused:
            yield Text(translate("why it is asked: takehome explain {check}", check=check.id))

    def _place(self, check: CheckResult) -> str:
        """Return the line of the author's source that raised, or ""."""
        cause = self.card.result.cause
        line, file = (cause.line, cause.file) if cause else (check.line, check.file)
        for source in self.card.sources:
            if line and (source.name == file or not file):
                lines = source.text.split("\n")
                text = lines[line - 1].strip() if line <= len(lines) else ""
                return self.language(
                    "{file}, line {line}: {text}", file=source.name, line=line, text=text
                )
        return ""

    def _example(self, evidence: Evidence) -> Iterator[Text]:
        translate = self.language
        yield Text()
        yield Text(_INDENT + translate("for example {call}", call=evidence.call))
        for name, expected in evidence.expected.items():
            pair = _compared(evidence, name, expected, translate)
            yield Text(textwrap.indent(pair, _INDENT * 2), style="dim")
        if can_be_called_again(evidence):
            file = self.card.sources[0].name if self.card.sources else ""
            yield Text(_INDENT + translate("to run it yourself, paste into Python:"))
            yield Text(textwrap.indent(snippet(evidence, file), _INDENT * 2), style="dim")
        yield Text()

    def _others(self, checks: Sequence[CheckResult]) -> Iterator[Text]:
        if not checks:
            return
        translate = self.language
        yield Text()
        yield Text(translate("and then:"))
        alike = {
            check.message: [c for c in checks if c.message == check.message] for check in checks
        }
        for english, group in alike.items():
            fact = translate.sentence(english)
            if fact and len(group) > 1:
                several = translate("{count} checks: {fact}", count=len(group), fact=fact)
                yield Text(f"✕ {several}", style="red")
                continue
            for check in group:
                title = translate.sentence(check.title).rstrip(".。")
                told = translate("{title}: {fact}", title=title, fact=fact) if fact else title
                yield Text(f"✕ {told}", style="red")

    def _all(self) -> Iterator[Text]:
        translate = self.language
        yield Text()
        for check in self.card.result.checks:
            word = translate(OUTCOME_NAMES[check.outcome])
            style = "red" if check.outcome.is_missed else "green"
            yield Text(f"{word:<12}", style=style).append(
                f"{translate.sentence(check.title)} [{check.id}]"
            )
            for text in (check.message, check.note, check.hint):
                if text:
                    yield Text(textwrap.indent(translate.sentence(text), " " * 12), style="dim")

    def _counts(self) -> Iterator[Text]:
        """Yield how many checks pass, the level and the points, and notes about the file."""
        translate, result = self.language, self.card.result
        yield Text()
        counted = [c for c in result.checks if c.outcome is not Outcome.NOT_APPLICABLE]
        passed = sum(check.outcome is Outcome.PASSED for check in counted)
        idle = sum(check.outcome is Outcome.NOT_RUN for check in counted)
        parts = []
        if counted:
            parts.append(
                translate("{passed} of {total} checks pass", passed=passed, total=len(counted))
            )
        if idle:
            parts.append(translate("{idle} could not run", idle=idle))
        if result.level is not Level.NONE:
            parts.append(translate("level {level}", level=translate(LEVEL_NAMES[result.level])))
        if result.earned is not None:
            points = translate(
                "{earned} of {possible} points", earned=result.earned, possible=result.possible
            )
            parts.append(points)
        if passed and self.file and not self.verbose:
            parts.append(translate("-v shows all"))
        if parts:
            yield Text(functools.reduce(self._in_a_row, parts), style="bold")
        for note in result.notes:
            yield Text(translate("note: {note}", note=translate.sentence(note)), style="dim")

    def _in_a_row(self, one: str, other: str) -> str:
        return self.language("{one}; {other}", one=one, other=other)


def first_cause_first(card: Card) -> list[CheckResult]:
    """Return the checks that did not pass and do not follow from the cause, likeliest cause first.

    That is the check which met the cause; then, level by level, what is written before what is not
    there yet, wrong shapes, the checks of a stage that is known to be broken, and those of one
    stage before those of the whole.
    """
    result = card.result
    stages = {stage for bug in result.diagnosis for stage in (bug.stage, *bug.stages)}
    met = result.cause.check if result.cause else ""
    missed = [c for c in result.checks if c.outcome.is_missed and c.outcome is not Outcome.NOT_RUN]

    def rank(check: CheckResult) -> tuple[bool, int, bool, bool, bool, bool]:
        return (
            check.id != met,
            LEVELS.index(check.level),
            check.message.startswith(_UNDEFINED),
            check.facet is not Facet.SHAPE,
            check.stage not in stages,
            check.stage is None,
        )

    return sorted(missed, key=rank)


def changed(before: Card, after: Card, language: Language) -> Text:
    """Say what the last save changed: which checks pass now, and which no longer do."""
    old = {check.id for check in before.result.checks if check.outcome is Outcome.PASSED}
    new = {check.id for check in after.result.checks if check.outcome is Outcome.PASSED}
    parts = []
    if gained := sorted(new - old):
        parts.append(language("pass now: {checks}", checks=", ".join(gained)))
    if lost := sorted(old - new):
        parts.append(language("no longer pass: {checks}", checks=", ".join(lost)))
    return Text("; ".join(parts) or language("the same checks pass as before"), style="yellow")


def _example(card: Card, check: CheckResult) -> Evidence | None:
    """Return a call that shows what a check found, or else the most telling one.

    Where what is asked about is not there, no call shows it.
    """
    if check.message.startswith(_UNDEFINED):
        return None
    shown = [one for one in card.evidence if one.expected]
    return next((one for one in shown if one.check == check.id), shown[0] if shown else None)


def _compared(evidence: Evidence, name: str, expected: Array, translate: Language) -> str:
    """Write what an output is against what it should be: whole, or where it differs if large."""
    actual = evidence.actual.get(name)
    if actual is None:
        return translate("{name} is no array", name=name)
    if actual.shape != expected.shape:
        return translate(
            "{name} has shape {actual}, expected {expected}",
            name=name,
            actual=actual.shape,
            expected=expected.shape,
        )
    if len(expected.values) <= _VALUES and prod(expected.shape) <= _VALUES:
        pair = (translate("returned"), actual), (translate("expected"), expected)
        return "\n".join(f"{word} {name} =\n{_written(array)}" for word, array in pair)
    places = evidence.wrong.get(name, ())[:_PLACES]
    if not places:
        return translate("{name} is right", name=name)
    return "\n".join(
        translate(
            "{name}[{place}]: returned {actual}, expected {expected}",
            name=name,
            place=", ".join(map(str, np.unravel_index(place, expected.shape))),
            actual=f"{float(actual.values[place]):.4g}",
            expected=f"{float(expected.values[place]):.4g}",
        )
        for place in places
    )


def _written(array: Array) -> str:
    values = np.array([float(value) for value in array.values], np.float64).reshape(array.shape)
    return np.array2string(values, precision=4, suppress_small=True, separator=", ")
