"""The commands of a candidate and of whoever hands out an assignment."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from harness.cli.exit_codes import Exit, exit_code, say
from harness.cli.languages import LanguageCode, chosen_language
from harness.errors import UsageError


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
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="Show every check.")] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Say one sentence only.")] = False,
    lang: LanguageCode = None,
) -> Exit:
    """Check your own file here, without Docker: the same checks, not isolated."""
    language = chosen_language(lang)
    say(language("checking {file} …", file=file.name))  # before what takes time to load
    from harness.commands.check_console import CheckConsole

    console = CheckConsole(
        file,
        spec,
        language,
        Console(),
        say,
        repairs=repairs,
        verbose=verbose,
        quiet=quiet,
    )
    return exit_code([console.watch() if watch else console.run()])


def specs(lang: LanguageCode = None) -> Exit:
    """List the assignments."""
    from harness.commands.console import show_specs
    from specs import TITLES

    language = chosen_language(lang)
    show_specs(((name, language.sentence(title)) for name, title in TITLES.items()), Console())
    return Exit.PASSED


def brief(name: str, lang: LanguageCode = None) -> Exit:
    """Print what an assignment asks of the candidate, in Markdown."""
    import specs

    language = chosen_language(lang)
    typer.echo(specs.brief(specs.load(name), language.code))
    return Exit.PASSED


def start(
    name: str,
    folder: Path,
    questions: Annotated[
        str | None, typer.Option(help="Written answers: which to ask, e.g. 8,25,36.")
    ] = None,
    draw: Annotated[
        int | None, typer.Option(help="Written answers: how many to ask, each level by its share.")
    ] = None,
    seed: Annotated[
        str | None, typer.Option(help="Draw the same form again; letters and digits.")
    ] = None,
    lang: LanguageCode = None,
) -> Exit:
    """Write an assignment's brief and starter file into a folder."""
    import specs
    from harness.commands.start import drawn, own_source, write_start

    language, source, spec = chosen_language(lang), own_source(), specs.load(name)
    if questions is not None and draw is not None:
        raise UsageError("--questions and --draw are both given, expected one; leave one out")
    wanted = questions.replace(" ", "").split(",") if questions is not None else draw
    if wanted is not None:
        spec = drawn(spec, wanted, seed or secrets.token_hex(4))
    text = specs.brief(spec, language.code)
    for path in write_start(spec, folder, source, brief=text, language=language):
        say(language("wrote {path}", path=path))
    if source.endswith(".whl"):
        wheel = source.removeprefix("./")
        say(
            language("put {wheel} beside them; in takehome's repository it is made by", wheel=wheel)
        )
        say("    python -m pip wheel --no-deps --wheel-dir FOLDER .")
    return Exit.PASSED


def explain(
    name: Annotated[str, typer.Argument(help="The id of a check or a flaw, as reports have it.")],
    lang: LanguageCode = None,
) -> Exit:
    """Explain a check (what it asks, why, which mistakes it catches) or a mistake."""
    from harness.commands.explain import explanation
    from specs import TITLES, load

    language = chosen_language(lang)
    typer.echo(explanation(name, [load(title) for title in TITLES], language))
    return Exit.PASSED
