"""The command line: arguments in, exit code out."""

from __future__ import annotations

import enum
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from harness.errors import SandboxBroken, TakehomeError
from harness.threads import ONE_THREAD

if TYPE_CHECKING:
    from harness.results import SubmissionResult


class Audience(enum.StrEnum):
    """Whom the cards are for."""

    INTERVIEWER = "interviewer"
    CANDIDATE = "candidate"


class Exit(enum.IntEnum):
    """Exit codes; the numbers are pytest's."""

    PASSED = 0
    FAILED = 1
    INTERRUPTED = 2
    BROKEN = 3
    USAGE = 4
    NOTHING = 5


class Conventions(enum.StrEnum):
    """What is asked of a submission's names, argument order, masks and layouts."""

    STRICT = "strict"
    ADAPT = "adapt"


#: What typer returns for an interrupted command: 128 + SIGINT.
_CTRL_C = 130

app = typer.Typer(
    help="Grade attention written by hand, and name the bug.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
image_app = typer.Typer(help="The images that submissions run in.", no_args_is_help=True)
app.add_typer(image_app, name="image")

AudienceName = Annotated[
    Audience,
    typer.Option(
        "--audience",
        help="candidate: only cards that may be handed out, in the folder's candidate/.",
    ),
]
SpecName = Annotated[str, typer.Option("--spec", help="Which assignment; see `takehome specs`.")]


@app.command()
def grade(
    paths: Annotated[list[Path], typer.Argument(help="Files, or folders of submissions.")],
    spec: SpecName,
    out: Annotated[Path, typer.Option(help="Folder for the results and scorecards.")],
    jobs: Annotated[int, typer.Option(min=1, help="Submissions at a time.")] = 2,
    sandbox: Annotated[
        str, typer.Option(help="container, or process: not isolated, for your own code only.")
    ] = "container",
    reuse: Annotated[
        bool, typer.Option("--reuse", help="Let one container serve many submissions.")
    ] = False,
    runtime: Annotated[str | None, typer.Option(help="Container runtime, e.g. runsc.")] = None,
    seed: Annotated[str | None, typer.Option(help="Seed of the inputs; fresh by default.")] = None,
    single: Annotated[
        bool, typer.Option("--single", help="Each folder is one submission.")
    ] = False,
    conventions: Annotated[
        Conventions,
        typer.Option(help="strict: as the brief says. adapt: other names, masks, layouts too."),
    ] = Conventions.STRICT,
    audience: AudienceName = Audience.INTERVIEWER,
    repairs: Annotated[
        bool,
        typer.Option(help="Look for an edit of a wrong answer that passes; shown on its card."),
    ] = False,
) -> Exit:
    """Grade submissions and write a scorecard for each."""
    from harness.commands.grade import Request, grade_batch

    request = Request(
        paths=tuple(paths),
        spec=spec,
        out=out,
        jobs=jobs,
        sandbox=sandbox,
        reuse=reuse,
        runtime=runtime,
        seed=seed,
        single=single,
        adapt=conventions is Conventions.ADAPT,
        for_candidates=audience is Audience.CANDIDATE,
        repairs=repairs,
    )
    graded = grade_batch(request, _say)
    return _exit_code(graded) if graded else Exit.NOTHING


@app.command()
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
    import specs
    from harness.candidate_view import for_candidate
    from harness.commands.check import changes, check_file
    from harness.commands.console import show_checks, show_repair
    from harness.repair import RepairFinder

    chosen = specs.load(spec or specs.recognise(file))
    for _ in changes(file):
        card = check_file(file, chosen, find_repair=RepairFinder() if repairs else None)
        show_checks(for_candidate(card), Console())
        if repairs:
            show_repair(card, Console())
        if not watch:
            break
    return _exit_code([card.result])


@app.command("specs")
def list_specs() -> Exit:
    """List the assignments."""
    import specs
    from harness.commands import console

    console.show_specs(specs.TITLES.items(), Console())
    return Exit.PASSED


@app.command()
def brief(name: str) -> Exit:
    """Print what an assignment asks of the candidate, in Markdown."""
    import specs

    typer.echo(specs.load(name).brief)
    return Exit.PASSED


@app.command()
def start(name: str, folder: Path) -> Exit:
    """Write an assignment's brief and starter file into a folder."""
    import specs
    from harness.commands.start import write_start

    for path in write_start(specs.load(name), folder):
        _say(f"wrote {path}")
    return Exit.PASSED


@app.command()
def explain(check: str) -> Exit:
    """Explain a check: what it asks, why, where it counts, which mistakes it catches."""
    import specs
    from harness.commands.explain import explanation

    typer.echo(explanation(check, [specs.load(name) for name in specs.TITLES]))
    return Exit.PASSED


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(help="The --out of an earlier run.")],
    audience: AudienceName = Audience.INTERVIEWER,
) -> Exit:
    """Render the scorecards again from their results."""
    from harness.commands.grade import render_again

    render_again(folder, _say, for_candidates=audience is Audience.CANDIDATE)
    return Exit.PASSED


@image_app.command("build")
def build_image(
    base: Annotated[str | None, typer.Option(help="Image to build on.")] = None,
    index_url: Annotated[str | None, typer.Option(help="One more package index.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be built from what.")
    ] = False,
) -> Exit:
    """Build the images that submissions run in."""
    from harness.sandbox.container import PACKAGES, build, connect, recipe

    client = None if dry_run else connect()
    for name in PACKAGES:
        if client is None:
            typer.echo(recipe(name).outline(base))
        else:
            _say(f"{name}: {build(client, name, base=base, index=index_url, report=_say).id}")
    return Exit.PASSED


@app.command()
def doctor(
    runtime: Annotated[str | None, typer.Option(help="Container runtime, e.g. runsc.")] = None,
) -> Exit:
    """Try out the sandbox: what it promises, a hostile submission tests."""
    from harness.commands.doctor import examine
    from harness.sandbox import Limits

    healthy = True
    for finding in examine(runtime=runtime, limits=Limits(), report=_say):
        typer.echo(f"{'ok' if finding.ok else 'NOT OK':<8}{finding.name:<22}{finding.measured}")
        if finding.advice:
            typer.echo(f"        {finding.advice}")
        healthy &= finding.ok
    return Exit.PASSED if healthy else Exit.BROKEN


@app.command()
def clean() -> Exit:
    """Remove abandoned containers and outdated images of takehome, and nothing else."""
    from harness.sandbox.container import connect, reap, remove_stale

    client = connect()
    _say(f"removed {reap(client)} containers and {remove_stale(client)} images")
    return Exit.PASSED


def _exit_code(submissions: Sequence[SubmissionResult]) -> Exit:
    from harness.results import Verdict

    verdicts = {submission.verdict for submission in submissions}
    if Verdict.INVALID in verdicts:
        return Exit.BROKEN
    return Exit.PASSED if verdicts <= {Verdict.PASSED} else Exit.FAILED


def _say(text: str) -> None:
    typer.echo(text, err=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    os.environ |= {**ONE_THREAD, **os.environ}
    sys.exit(run(lambda: app(args=arguments, standalone_mode=False)))


def run(command: Callable[[], object]) -> int:
    """Run a command; a mistake of the user's becomes one line, and never a traceback."""
    try:
        code = command()
        if code == _CTRL_C:
            raise KeyboardInterrupt
        return int(code) if isinstance(code, int) else Exit.PASSED
    except KeyboardInterrupt:
        _say("interrupted")
        return Exit.INTERRUPTED
    except typer.Abort:
        return Exit.INTERRUPTED
    except SandboxBroken as error:
        _say(f"takehome: {error}")
        return Exit.BROKEN
    except TakehomeError as error:
        _say(f"takehome: {error}")
        return Exit.USAGE
    except typer.Exit as error:
        return error.exit_code
    except Exception as error:
        if hasattr(error, "format_message") and hasattr(error, "exit_code"):  # click's usage errors
            if said := error.format_message():  # nothing when it was the help that was wanted
                _say(f"takehome: {said}")
            return Exit.USAGE
        raise


if __name__ == "__main__":
    main()
