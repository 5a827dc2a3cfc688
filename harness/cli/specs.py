"""The commands of whoever writes an assignment."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.cli.exit_codes import Exit, say


def new(
    name: Annotated[str, typer.Argument(help="Name of the assignment, e.g. unit_rows.")],
    folder: Annotated[Path, typer.Option(help="Where its folder is made.")] = Path(),
) -> Exit:
    """Write a small working assignment to start from: brief, reference, checks, flaws, samples."""
    from harness.commands.own_spec import write_spec

    written = write_spec(name, folder)
    for path in written:
        say(f"wrote {path}")
    say(f"next: takehome spec test {written[0]}")
    return Exit.PASSED


def test(
    spec: Annotated[str, typer.Argument(help="The file of the spec, its folder, or a name.")],
    seeds: Annotated[int, typer.Option(min=1, help="Draw the inputs afresh so many times.")] = 5,
) -> Exit:
    """Prove an assignment: right answers pass, every mistake is caught, nothing is for free."""
    import secrets

    from harness.commands.own_spec import examine_spec
    from specs import load

    inside = Path(spec) / "spec.py"
    spec = str(inside) if inside.is_file() else spec
    loaded = load(spec)
    samples = Path(spec).parent / "samples"
    count = 0
    for problem in examine_spec(loaded, samples, [secrets.token_hex(4) for _ in range(seeds)]):
        count += 1
        typer.echo(problem)
    if count:
        typer.echo(f"{loaded.name}: {count} problem{'s' if count > 1 else ''}")
        return Exit.FAILED
    typer.echo(
        f"{loaded.name}: {len(loaded.checks)} checks and {len(loaded.flaws)} flaws hold "
        f"over {seeds} seed{'s' if seeds > 1 else ''}"
    )
    return Exit.PASSED
