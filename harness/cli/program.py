"""The command line: arguments in, exit code out."""

from __future__ import annotations

import importlib.metadata
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Annotated

import typer

from harness.cli import assignments, ci, grading, records, reviewing, sandbox, specs
from harness.cli.console_encoding import let_consoles_spell
from harness.cli.exit_codes import Exit, say
from harness.errors import SandboxBroken, TakehomeError
from harness.threads import ONE_THREAD

#: What typer returns for an interrupted command: 128 + SIGINT.
_CTRL_C = 130

app = typer.Typer(
    help="Grade attention written by hand, and name the bug.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
image_app = typer.Typer(help="The images that submissions run in.", no_args_is_help=True)
app.add_typer(image_app, name="image")
ci_app = typer.Typer(invoke_without_command=True)
ci_app.callback()(ci.ci)
ci_app.command()(ci.init)
app.add_typer(ci_app, name="ci")
spec_app = typer.Typer(help="An assignment of your own.", no_args_is_help=True)
app.add_typer(spec_app, name="spec")

#: In the order of the help.
COMMANDS: Sequence[Callable[..., Exit]] = (
    grading.grade,
    grading.report,
    reviewing.review,
    records.reproduce,
    records.forget,
    assignments.check,
    assignments.specs,
    assignments.brief,
    assignments.start,
    assignments.explain,
    sandbox.doctor,
    sandbox.clean,
)
for command in COMMANDS:
    app.command()(command)
image_app.command("build")(sandbox.build_image)
image_app.command("contents")(sandbox.show_contents)
spec_app.command()(specs.new)
spec_app.command()(specs.test)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"takehome {importlib.metadata.version('takehome')}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Grade attention written by hand, and name the bug."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    os.environ |= {**ONE_THREAD, **os.environ}
    let_consoles_spell()
    sys.exit(run(lambda: app(args=arguments, standalone_mode=False)))


def run(command: Callable[[], object]) -> int:
    """Run a command; a mistake of the user's becomes one line, and never a traceback."""
    try:
        code = command()
        if code == _CTRL_C:
            raise KeyboardInterrupt
        return int(code) if isinstance(code, int) else Exit.PASSED
    except KeyboardInterrupt:
        say("interrupted")
        return Exit.INTERRUPTED
    except typer.Abort:
        return Exit.INTERRUPTED
    except SandboxBroken as error:
        say(f"takehome: {error}")
        return Exit.BROKEN
    except TakehomeError as error:
        say(f"takehome: {error}")
        return Exit.USAGE
    except typer.Exit as error:
        return error.exit_code
    except Exception as error:
        if hasattr(error, "format_message") and hasattr(error, "exit_code"):  # click's usage errors
            if said := error.format_message():  # nothing when it was the help that was wanted
                say(f"takehome: {said}")
            return Exit.USAGE
        traceback.print_exc()  # a defect of ours: pytest's 1 would say that a submission failed
        return Exit.BROKEN
