"""The command of a reviewer: the pages of a batch, with forms for decisions and marks."""

from __future__ import annotations

import getpass
from pathlib import Path
from typing import Annotated

import typer

from harness.cli.exit_codes import Exit, say
from harness.cli.languages import LanguageCode, chosen_language


def review(
    folder: Annotated[Path, typer.Argument(help="The --out of a graded batch.")],
    reviewer: Annotated[
        str | None, typer.Option(help="Your name, as decisions carry it; your login by default.")
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 for any that is free.")] = 0,
    address: Annotated[
        str | None, typer.Option(help="That of your own proxy, e.g. https://review.example.org.")
    ] = None,
    export: Annotated[
        bool, typer.Option("--export", help="Print decisions.toml instead of serving.")
    ] = False,
    lang: LanguageCode = None,
) -> Exit:
    """Serve the pages on this machine, to decide, note and mark; kept in the folder's ledger."""
    from harness.commands.decisions_file import decisions_toml
    from harness.commands.served import serve
    from harness.grading import Reviews

    if export:
        with Reviews(folder) as reviews:
            typer.echo(decisions_toml(reviews), nl=False)
        return Exit.PASSED
    serve(folder, reviewer or getpass.getuser(), port, address, say, language=chosen_language(lang))
    return Exit.PASSED
