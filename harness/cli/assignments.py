"""The commands of a candidate and of whoever hands out an assignment."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from harness.cli.exit_codes import Exit, exit_code, say


def check(
    file: Annotated[Path, typer.Argument(help="Your own file.")],
    spec: Annotated[
        str | None, typer.Option("--spec", help="Which assignment; found by its names otherwise.")
    ] = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Check again whenever the file changes.")
    ] = False,
    repairs: Annotated[
        bool, typer.Option(help="Give the answer away: show an edit that passes every check.")
    ] = False,
) -> Exit:
    """Check your own file here, without Docker: the same checks, not isolated."""
    from harness.candidate_view import for_candidate
    from harness.commands.check import changes, check_file
    from harness.commands.console import show_checks, show_repair
    from harness.repair import RepairFinder
    from specs import load, recognise

    chosen = load(spec or recognise(file))
    for _ in changes(file):
        card = check_file(file, chosen, find_repair=RepairFinder() if repairs else None)
        show_checks(for_candidate(card), Console())
        if repairs:
            show_repair(card, Console())
        if not watch:
            break
    return exit_code([card.result])


def specs() -> Exit:
    """List the assignments."""
    from harness.commands.console import show_specs
    from specs import TITLES

    show_specs(TITLES.items(), Console())
    return Exit.PASSED


def brief(name: str) -> Exit:
    """Print what an assignment asks of the candidate, in Markdown."""
    from specs import load

    typer.echo(load(name).brief)
    return Exit.PASSED


def start(name: str, folder: Path) -> Exit:
    """Write an assignment's brief and starter file into a folder."""
    from harness.commands.start import write_start
    from specs import load

    for path in write_start(load(name), folder):
        say(f"wrote {path}")
    return Exit.PASSED


def explain(
    name: Annotated[str, typer.Argument(help="The id of a check or a flaw, as reports have it.")],
) -> Exit:
    """Explain a check (what it asks, why, which mistakes it catches) or a mistake."""
    from harness.commands.explain import explanation
    from specs import TITLES, load

    typer.echo(explanation(name, [load(title) for title in TITLES]))
    return Exit.PASSED
