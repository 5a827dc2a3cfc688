"""The commands of an interviewer: grade a batch, and render it again."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated

import typer

from harness.cli.exit_codes import Exit, exit_code, say
from harness.cli.languages import LanguageCode, chosen_language


class Audience(enum.StrEnum):
    """Whom the cards are for."""

    INTERVIEWER = "interviewer"
    CANDIDATE = "candidate"


class Conventions(enum.StrEnum):
    """What is asked of a submission's names, argument order, masks and layouts."""

    STRICT = "strict"
    ADAPT = "adapt"


AudienceName = Annotated[
    Audience,
    typer.Option(
        "--audience",
        help="candidate: only cards that may be handed out, in the folder's candidate/.",
    ),
]
SpecName = Annotated[
    str | None,
    typer.Option("--spec", help="Which assignment, see `takehome specs`; as takehome.toml says."),
]
FormatNames = Annotated[
    list[str] | None,
    typer.Option(
        "--format", help="Also write gradescope, classroom, canvas, csv, json or jsonl to exports/."
    ),
]
Roster = Annotated[Path | None, typer.Option(help="CSV of the people, for the exports.")]


def grade(
    paths: Annotated[list[Path], typer.Argument(help="Files, or folders of submissions.")],
    out: Annotated[Path, typer.Option(help="Folder for the results and scorecards.")],
    spec: SpecName = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Submissions at a time; by default the cores.")
    ] = None,
    sandbox: Annotated[
        str, typer.Option(help="container, or process: not isolated, for your own code only.")
    ] = "container",
    reuse: Annotated[
        bool, typer.Option("--reuse", help="Let one container serve many submissions.")
    ] = False,
    runtime: Annotated[str | None, typer.Option(help="Container runtime, e.g. runsc.")] = None,
    executor: Annotated[
        str, typer.Option(help="Where jobs run: local, or dask://HOST:PORT for a cluster.")
    ] = "local",
    seed: Annotated[
        str | None, typer.Option(help="Seed of the inputs; the folder's own by default.")
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Grade everything again, with a fresh seed.")
    ] = False,
    single: Annotated[
        bool, typer.Option("--single", help="Each folder is one submission.")
    ] = False,
    conventions: Annotated[
        Conventions | None,
        typer.Option(help="strict: as the brief says. adapt: other names, masks, layouts too."),
    ] = None,
    audience: Annotated[
        Audience | None,
        typer.Option(help="candidate: only cards that may be handed out, in candidate/."),
    ] = None,
    formats: FormatNames = None,
    roster: Roster = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be graded by what, and stop.")
    ] = False,
    repairs: Annotated[
        bool | None,
        typer.Option(
            help="Look for an edit that passes: of every wrong answer, or of none; by default of "
            "those whose bugs are named in full.",
        ),
    ] = None,
    own_tests: Annotated[
        bool,
        typer.Option(
            "--own-tests", help="Also run the test_*.py handed in against known bugs; no points."
        ),
    ] = False,
    anonymise: Annotated[
        bool,
        typer.Option(
            "--anonymise", help="Aliases for names, on every page; names.csv says whose each is."
        ),
    ] = False,
    lang: LanguageCode = None,
    accept: Annotated[
        list[str] | None,
        typer.Option(help="A probe of `takehome doctor` that may be red, by name; repeatable."),
    ] = None,
) -> Exit:
    """Grade submissions and write a scorecard for each; a run that was stopped goes on."""
    from harness.commands.batch_run import Repairs
    from harness.commands.exports import expect_formats, write_exports
    from harness.commands.grade import Request, grade_batch, plan
    from harness.commands.team_settings import expect_spec, settings_for, terms_of

    settings = settings_for(paths)
    expect_formats(formats or ())
    request = Request(
        paths=tuple(paths),
        spec=expect_spec(spec, settings),
        out=out,
        jobs=jobs,
        sandbox=sandbox,
        reuse=reuse,
        runtime=runtime,
        seed=seed,
        fresh=fresh,
        single=single,
        adapt=(conventions or settings.conventions) == Conventions.ADAPT,
        for_candidates=(audience or settings.audience) == Audience.CANDIDATE,
        language=chosen_language(lang),
        repairs={None: Repairs.EXPLAINED, True: Repairs.ALL, False: Repairs.NONE}[repairs],
        executor=executor,
        own_tests=own_tests,
        accepted=tuple(accept or ()),
        terms=terms_of(settings),
        limits=settings.limits,
        anonymise=anonymise,
        roster=roster or _path(settings.roster),
    )
    if dry_run:
        for line in plan(request):
            typer.echo(line)
        return Exit.PASSED
    graded = grade_batch(request, say)
    if formats and graded:
        write_exports(out, formats, roster or _path(settings.roster), say)
    return exit_code(graded) if graded else Exit.NOTHING


def _path(name: str | None) -> Path | None:
    return Path(name) if name else None


def report(
    folder: Annotated[Path, typer.Argument(help="The --out of an earlier run.")],
    audience: AudienceName = Audience.INTERVIEWER,
    out: Annotated[
        Path | None,
        typer.Option(help="With --audience candidate: a folder with one page each, ready to send."),
    ] = None,
    formats: FormatNames = None,
    roster: Roster = None,
    lang: LanguageCode = None,
    history: Annotated[
        bool, typer.Option("--history", help="Print how each candidate's result moved, instead.")
    ] = False,
) -> Exit:
    """Render the scorecards again from their results."""
    if history:
        from rich.console import Console

        from harness.commands.history import history as past

        for line in past(folder):
            Console().print(line, soft_wrap=True)
        return Exit.PASSED
    from harness.commands.exports import expect_formats, hand_out, write_exports
    from harness.commands.grade import render_again
    from harness.errors import UsageError

    expect_formats(formats or ())
    if out is not None and audience is not Audience.CANDIDATE:
        raise UsageError("--out is for --audience candidate; pages for interviewers stay in place")
    if out is not None:
        hand_out(folder, out, say)
    else:
        for_candidates, language = audience is Audience.CANDIDATE, chosen_language(lang)
        render_again(folder, say, for_candidates=for_candidates, language=language)
    if formats:
        write_exports(folder, formats, roster, say)
    return Exit.PASSED
