"""The commands of a CI job over a repository of submissions."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from harness.cli.exit_codes import Exit, exit_code, say


def ci(
    context: typer.Context,
    base: Annotated[
        str | None, typer.Option(help="What a change is against; all is graded without it.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for public/ and private/.")] = Path(
        "takehome-results"
    ),
    spec: Annotated[
        str | None, typer.Option("--spec", help="Which assignment, whatever takehome.toml says.")
    ] = None,
    folder: Annotated[Path, typer.Option(help="The repository.")] = Path(),
    sandbox: Annotated[
        str, typer.Option(help="container, or process: not isolated, for your own code only.")
    ] = "container",
    nothing_is_fine: Annotated[
        bool, typer.Option("--nothing-is-fine", help="Exit with 0 when nothing is to be graded.")
    ] = False,
) -> Exit:
    """Grade what a change to a repository of submissions brings, by the base's takehome.toml."""
    if context.invoked_subcommand is not None:
        return Exit.PASSED
    from harness.commands.ci import Job, grade_change

    job = Job(
        folder=folder,
        base=base,
        spec=spec,
        out=out,
        sandbox=sandbox,
        on_github=os.environ.get("GITHUB_ACTIONS") == "true",
    )
    graded = grade_change(job, typer.echo, say)
    if not graded:
        say("nothing to grade was changed" if base else "there is nothing to grade")
        return Exit.PASSED if nothing_is_fine else Exit.NOTHING
    return exit_code(graded)


def init(
    kind: Annotated[str, typer.Argument(help="github, gitlab or pre-commit.")],
    folder: Annotated[Path, typer.Option(help="The repository.")] = Path(),
    install: Annotated[
        str | None, typer.Option(help="What the job gives to pip; its own origin by default.")
    ] = None,
) -> Exit:
    """Write the configuration of a CI job that grades pull requests."""
    from harness.commands.ci_init import write_ci
    from harness.commands.start import own_source

    source = install or own_source()
    say(f"wrote {write_ci(kind, folder, source)}")
    if source.endswith(".whl") and kind != "pre-commit":
        say(f"TAKEHOME in it is {source}; write there from where the job can install takehome,")
        say("which is never a file of the repository: a pull request could change it")
    return Exit.PASSED
