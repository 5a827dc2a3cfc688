"""The commands about the sandbox: its images, what it promises, what it left behind."""

from __future__ import annotations

from typing import Annotated

import typer

from harness.cli.exit_codes import Exit, say


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
            say(f"{name}: {build(client, name, base=base, index=index_url, report=say).id}")
    return Exit.PASSED


def show_contents(
    image: Annotated[str, typer.Argument(help="takehome-numpy or takehome-torch.")],
) -> Exit:
    """Print what an image holds, as a CycloneDX bill of materials (JSON)."""
    import json

    from harness.errors import UsageError
    from harness.sandbox.container import (
        PACKAGES,
        bill_of_materials,
        connect,
        ensure_image,
        list_packages,
    )

    if image not in PACKAGES:
        raise UsageError(f"the image is {image}, expected {' or '.join(PACKAGES)}")
    client = connect()
    built = ensure_image(client, image, report=say)
    bill = bill_of_materials(built, list_packages(client, built))
    typer.echo(json.dumps(bill, indent=2))
    return Exit.PASSED


def doctor(
    runtime: Annotated[str | None, typer.Option(help="Container runtime, e.g. runsc.")] = None,
) -> Exit:
    """Try out the sandbox: what it promises, a hostile submission tests."""
    from harness.commands.doctor import examine
    from harness.sandbox import Limits

    healthy = True
    for finding in examine(runtime=runtime, limits=Limits(), report=say):
        typer.echo(f"{'ok' if finding.ok else 'NOT OK':<8}{finding.name:<22}{finding.measured}")
        if finding.advice:
            typer.echo(f"        {finding.advice}")
        healthy &= finding.ok
    return Exit.PASSED if healthy else Exit.BROKEN


def clean() -> Exit:
    """Remove abandoned containers and outdated images of takehome, and nothing else."""
    from harness.sandbox.container import connect, reap, remove_stale

    client = connect()
    say(f"removed {reap(client)} containers and {remove_stale(client)} images")
    return Exit.PASSED
