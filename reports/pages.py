"""The templates, compiled once, and the one way to turn a view into a bounded page."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from reports import words

#: Characters of the name at the foot of a printed sheet.
_SHEET_NAME: Final = 120

TEMPLATES: Final = Path(__file__).parent / "templates"


class Pages:
    """The HTML templates with the words they use; escaping is on and cannot be left out."""

    def __init__(self, folder: Path = TEMPLATES) -> None:
        self._environment = Environment(
            loader=FileSystemLoader(folder),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        self._environment.filters["anchor"] = anchor
        self._environment.filters["coded"] = coded
        self._environment.filters["css_string"] = css_string
        self._environment.globals.update(
            outcomes=words.OUTCOMES,
            causes=words.CAUSES,
            own_tests_remarks=words.OWN_TESTS,
            verdicts=words.VERDICTS,
            levels=words.LEVEL_WORDS,
            figures=words.figures,
            multiple=words.multiple,
            duration=words.duration,
            plural=words.plural,
            points=words.points,
            score=words.score,
            choices=words.CHOICES,
            moment=words.moment,
        )

    def render(self, template: str, page: object) -> str:
        """Fill one template with its view."""
        return self._environment.get_template(template).render(page=page)


@functools.cache
def pages() -> Pages:
    """Return the templates of this process."""
    return Pages()


def anchor(text: str) -> str:
    """Return a name that is safe as an HTML id and as a fragment of a link."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", text)[:80]


def coded(text: str) -> Markup:
    """Return a text in which what stands between backticks is code."""
    parts = [escape(part) for part in text.split("`")]
    if len(parts) % 2 == 0:
        return escape(text)
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if number % 2 else part
        for number, part in enumerate(parts)
    )


def css_string(markup: str) -> Markup:
    """Return the text of some mark-up as a string of CSS that nothing inside can end."""
    text = Markup(markup).unescape().replace("\n", " ").strip()[:_SHEET_NAME]
    spelled = "".join(
        character if character.isascii() and character.isalnum() else f"\\{ord(character):x} "
        for character in text
    )
    return Markup('"{}"').format(Markup(spelled))


def fitting(attempts: Iterable[Callable[[], str]], limit: int) -> str:
    """Return the first attempt of at most ``limit`` bytes, or else the last one.

    Attempts come with ever tighter caps; all but a hostile report fits at the first.
    """
    text = ""
    for attempt in attempts:
        text = attempt()
        if len(text.encode()) <= limit:
            break
    return text
