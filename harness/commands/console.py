"""What a person sees in a terminal: results, one check explained, a repair."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.text import Text

from harness.candidate_view import CandidateCard, for_candidate
from harness.results import Card, Level, SubmissionResult, Verdict, shared_message

STYLES = {
    Verdict.PASSED: "green",
    Verdict.FAILED: "red",
    Verdict.UNGRADEABLE: "yellow",
    Verdict.AWAITING_REVIEW: "yellow",
    Verdict.INVALID: "magenta",
}


def to_interviewer(card: Card) -> Text:
    """Return a card in one line."""
    return line(card.result)


def to_candidate(card: Card) -> Text:
    """Return what a candidate may know of a card, in one line."""
    return line(for_candidate(card))


def line(result: SubmissionResult | CandidateCard) -> Text:
    """Return one submission in one line."""
    text = Text(f"{result.verdict.replace('_', ' '):<16}", style=STYLES[result.verdict])
    text.append(f"{result.id}", style="bold")
    if result.earned is not None:
        level = "" if result.level is Level.NONE else f"{result.level}, "
        text.append(f"  {level}{result.earned} of {result.possible} points")
    if what := what_is_wrong(result):
        text.append(f"  {what}", style="dim")
    return text


def what_is_wrong(result: SubmissionResult | CandidateCard) -> str:
    """Return the cause, the bug, the reason, what all checks say, or which did not pass."""
    if isinstance(result, SubmissionResult) and result.cause:
        return result.cause.text
    if isinstance(result, SubmissionResult) and result.diagnosis:
        return result.diagnosis[0].title
    if result.reason:
        return result.reason
    if shared := shared_message((c.outcome, c.message) for c in result.checks):
        return shared
    failed = [check.id for check in result.checks if check.outcome.is_missed]
    more = f" and {len(failed) - 4} more" if len(failed) > 4 else ""
    return f"not passed: {', '.join(failed[:4])}{more}" if failed else ""


def show_repair(card: Card, console: Console) -> None:
    """Print the repair that was found for a submission, or that there is none."""
    if (repair := card.repair) is None:
        if any(check.outcome.is_missed for check in card.result.checks):
            console.print("\nNo small edit was found under which every check passes.")
        return
    lines = "this one line" if repair.lines == 1 else f"these {repair.lines} lines"
    console.print(f"\nWith {lines} changed, all {repair.checks} checks pass:", style="bold")
    for text in repair.diff.split("\n"):
        style = {"+": "green", "-": "red"}.get(text[:1], "")
        console.print(Text(text, style=style), soft_wrap=True)


def show_specs(titles: Iterable[tuple[str, str]], console: Console) -> None:
    """Print the assignments, one to a line."""
    listed = list(titles)
    width = max(len(name) for name, _ in listed)
    for name, title in listed:
        text = Text(f"{name:<{width}}  ", style="bold").append(title, style="not bold")
        console.print(text, soft_wrap=True)
