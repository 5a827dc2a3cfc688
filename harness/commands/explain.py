"""One check or one mistake in words."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from harness.commands.examples import Example, example_for, example_of
from harness.errors import UnknownName
from harness.language import ENGLISH, Language, stage_name
from harness.spec import Check, Flaw, Spec

WIDTH = 90


def explanation(name: str, specs: Sequence[Spec], language: Language = ENGLISH) -> str:
    """Explain the check or the flaw of that id, over all the specs that have it.

    Raises:
        UnknownName: no spec has either; the message says which are near.
    """
    checks = [(spec, check) for spec in specs for check in spec.checks if check.id == name]
    if not checks:
        checks = [(spec, check) for spec, check in _of_drawn_forms(specs) if check.id == name]
    flaws = [(spec, flaw) for spec in specs for flaw in spec.flaws if flaw.id == name]
    if not checks and not flaws:
        known = {check.id for spec in specs for check in spec.checks}
        known |= {flaw.id for spec in specs for flaw in spec.flaws}
        raise UnknownName("check or flaw", name, known)
    lines: list[str] = []
    if checks:
        lines += _check_lines(name, checks, specs, language)
    if flaws:
        lines += [*([""] if lines else []), *_flaw_lines(flaws, language)]
    return "\n".join(lines)


def _of_drawn_forms(specs: Sequence[Spec]) -> Iterator[tuple[Spec, Check]]:
    """Yield the checks of forms that are drawn, with all their questions."""
    for spec in specs:
        if spec.forms is not None:
            drawn = spec.forms.draw(len(spec.questions), "0")
            yield from ((drawn, check) for check in drawn.checks)


def _check_lines(
    name: str, checks: Sequence[tuple[Spec, Check]], specs: Sequence[Spec], language: Language
) -> Iterator[str]:
    """Yield what a check asks, why, its remedy, where it counts, and what it catches."""
    criterion = checks[0][1].criterion
    yield language.sentence(criterion.title)
    if criterion.why:
        yield from ("", *_paragraph(language.sentence(criterion.why)))
    remedy = language("Remedy: {hint}", hint=language.sentence(criterion.hint))
    yield from ("", *_paragraph(remedy), "")
    for spec, check in checks:
        level = language.sentence(check.level.capitalize())
        yield language(
            "{spec}: level {level}, {points} points",
            spec=spec.name,
            level=level.lower(),
            points=check.points,
        )
    yield from _example_lines(example_for(name, checks[0][0]), language)
    titles = {flaw.title for spec in specs for flaw in spec.flaws if name in flaw.caught_by}
    if titles:
        yield from ("", language("Fails for"))
        yield from (f"- {language.sentence(title)}" for title in sorted(titles))


def _flaw_lines(flaws: Sequence[tuple[Spec, Flaw]], language: Language) -> Iterator[str]:
    """Yield what a mistake is, where it lies, what to ask about it, and what catches it."""
    flaw = flaws[0][1]
    title, stage = language.sentence(flaw.title), stage_name(flaw.stage, language)
    yield language("A mistake: {title} (stage {stage})", title=title, stage=stage)
    asked = language("Question: {text}", text=language.sentence(flaw.question))
    answered = language("A good answer: {text}", text=language.sentence(flaw.answer))
    yield from ("", *_paragraph(asked), *_paragraph(answered))
    yield from _example_lines(example_of(flaw, flaws[0][0]), language)
    yield ""
    for spec, each in flaws:
        checks = ", ".join(sorted(each.caught_by))
        yield language("{spec}: fails {checks}", spec=spec.name, checks=checks)


def _example_lines(example: Example | None, language: Language) -> Iterator[str]:
    """Yield a wrong and a right part, where they can be shown."""
    if example is not None:
        for word, code in (
            (language("Wrong:"), example.wrong),
            (language("Right:"), example.right),
        ):
            yield from ("", word, "", textwrap.indent(code, "    "))


def _paragraph(text: str) -> list[str]:
    """Return the lines of a paragraph; Chinese, written without spaces, is left to the terminal."""
    if any("\u4e00" <= letter <= "\u9fff" for letter in text):
        return [text.replace("\n", "")]
    return textwrap.wrap(text, WIDTH)
