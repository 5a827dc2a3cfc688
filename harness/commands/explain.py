"""One check or one mistake in words."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from harness.commands.examples import Example, example_for, example_of
from harness.errors import UnknownName
from harness.spec import Check, Flaw, Spec

WIDTH = 90


def explanation(name: str, specs: Sequence[Spec]) -> str:
    """Explain the check or the flaw of that id, over all the specs that have it.

    Raises:
        UnknownName: no spec has either; the message says which are near.
    """
    checks = [(spec, check) for spec in specs for check in spec.checks if check.id == name]
    flaws = [(spec, flaw) for spec in specs for flaw in spec.flaws if flaw.id == name]
    if not checks and not flaws:
        known = {check.id for spec in specs for check in spec.checks}
        known |= {flaw.id for spec in specs for flaw in spec.flaws}
        raise UnknownName("check or flaw", name, known)
    lines: list[str] = []
    if checks:
        lines += _check_lines(name, checks, specs)
    if flaws:
        lines += [*([""] if lines else []), *_flaw_lines(flaws)]
    return "\n".join(lines)


def _check_lines(
    name: str, checks: Sequence[tuple[Spec, Check]], specs: Sequence[Spec]
) -> Iterator[str]:
    """Yield what a check asks, why, its remedy, where it counts, and what it catches."""
    criterion = checks[0][1].criterion
    yield criterion.title
    if criterion.why:
        yield from ("", *textwrap.wrap(criterion.why, WIDTH))
    yield from ("", *textwrap.wrap(f"Remedy: {criterion.hint}", WIDTH), "")
    yield from (
        f"{spec.name}: level {check.level}, {check.points} points" for spec, check in checks
    )
    yield from _example_lines(example_for(name, checks[0][0]))
    titles = {flaw.title for spec in specs for flaw in spec.flaws if name in flaw.caught_by}
    if titles:
        yield from ("", "Fails for", *(f"- {title}" for title in sorted(titles)))


def _flaw_lines(flaws: Sequence[tuple[Spec, Flaw]]) -> Iterator[str]:
    """Yield what a mistake is, where it lies, what to ask about it, and what catches it."""
    flaw = flaws[0][1]
    yield f"A mistake: {flaw.title} (stage {flaw.stage})"
    yield from ("", *textwrap.wrap(f"Question: {flaw.question}", WIDTH))
    yield from textwrap.wrap(f"A good answer: {flaw.answer}", WIDTH)
    yield from _example_lines(example_of(flaw, flaws[0][0]))
    yield ""
    for spec, each in flaws:
        yield f"{spec.name}: fails {', '.join(sorted(each.caught_by))}"


def _example_lines(example: Example | None) -> Iterator[str]:
    """Yield a wrong and a right part, where they can be shown."""
    if example is not None:
        for word, code in (("Wrong", example.wrong), ("Right", example.right)):
            yield from ("", f"{word}:", "", textwrap.indent(code, "    "))
