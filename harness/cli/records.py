"""The commands about what a folder keeps of people: made again, erased, listed when due."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.cli.exit_codes import Exit, say

Folder = Annotated[Path, typer.Argument(help="The --out of an earlier run.")]
Submission = Annotated[str, typer.Argument(help="Id of a submission, as index.html shows it.")]


def reproduce(folder: Folder, submission: Submission) -> Exit:
    """Grade a submission again, with the seed and image of then, and say what is the same."""
    from harness.commands.reproduction import reproduce as grade_again

    again = grade_again(folder, submission, say)
    for line in again.differences:
        say(line)
    if again.differences:
        return Exit.FAILED
    say("the same: verdict, level, points, the outcome of every check, and the bugs that are named")
    return Exit.PASSED


def forget(
    folder: Folder,
    submission: Annotated[
        str | None, typer.Argument(help="Id of the submission; without one, list what is due.")
    ] = None,
    older_than: Annotated[
        int | None,
        typer.Option(min=0, metavar="DAYS", help="What is due; retention_days by default."),
    ] = None,
) -> Exit:
    """Erase all that is kept of one submission; or list what is due to be erased."""
    from harness.commands import erasure
    from harness.commands.grade import utc_now

    if submission is None:
        days = erasure.retention_days(folder) if older_than is None else older_than
        erasure.say_what_is_due(folder, days, utc_now(), say)
    else:
        erasure.forget(folder, submission, say)
    return Exit.PASSED
