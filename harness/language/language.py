"""One language: sentences by their English text, those with values by their form.

A sentence of a report stands in ``results.json`` in English, with its values in it. A catalog has
its form, with a number in braces for each value: ``weights have shape {0}, expected {1}``. So an
English batch is read in Chinese without grading it again, and a sentence that no catalog has
stays as it is.
"""

from __future__ import annotations

import functools
import gettext
import locale
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

#: Codes of the languages, as ``--lang`` and the attribute ``lang`` of a page have them.
LANGUAGES: Final = ("en", "zh")
CATALOGS: Final = Path(__file__).with_name("locale")
DOMAIN: Final = "takehome"
#: A form of fewer letters than this would be seen in many a sentence: its values are one word.
_SHORT: Final = 14


class Language:
    """Puts what is written in English into one language."""

    def __init__(self, code: str, messages: Mapping[str, str]) -> None:
        self.code = code
        self._messages = messages
        self._forms = functools.cache(lambda: tuple(_forms(messages)))

    @classmethod
    def load(cls, code: str) -> Language:
        """Return the language of that code; English needs no catalog."""
        return cls(code, {} if code == "en" else _catalog(code))

    def __call__(self, english: str, **values: object) -> str:
        """Return a text of ours in this language, with its values put in."""
        text = self._messages.get(english) or english
        return _filled(text, {name: str(value) for name, value in values.items()})

    def sentence(self, english: str) -> str:
        """Return a text that was made with its values in it, or as it is where it is not known."""
        if not self._messages or not english:
            return english
        if english in self._messages:
            return self._messages[english]
        for form, translated in self._forms():
            if found := form.fullmatch(english):
                values = {name[1:]: self.sentence(text) for name, text in found.groupdict().items()}
                return _filled(translated, values)
        lowered = english[0].lower() + english[1:]  # a sentence that begins another text's end
        return english if lowered == english else self._messages.get(lowered, english)


def _filled(text: str, values: Mapping[str, str]) -> str:
    """Put values in; not by ``format``, since they may be anything a candidate wrote."""
    return re.sub(r"\{(\w+)\}", lambda place: values.get(place[1], place[0]), text)


def _forms(messages: Mapping[str, str]) -> Iterator[tuple[re.Pattern[str], str]]:
    """Yield what a sentence with values looks like, the ones with most fixed words first."""
    for english in sorted(messages, key=lambda text: -len(re.sub(r"\{\w+\}", "", text))):
        names = re.findall(r"\{(\w+)\}", english)
        if not names:
            continue
        pattern, seen = re.escape(english), set()
        fixed = len(re.findall("[A-Za-z]", re.sub(r"\{\w+\}", "", english)))
        is_short = fixed < _SHORT and (len(names) > 1 or english.startswith("{"))
        value = r"[^\s,;]*" if is_short else ".*?"
        for name in names:
            # What a sentence is about may hold its words, too: "a query that has no key has 2 of 4
            # values that are NaN". The numbers after it do not.
            wide = ".*" if value == ".*?" and english.startswith(f"{{{name}}} has ") else value
            group = f"(?P=_{name})" if name in seen else f"(?P<_{name}>{wide})"
            pattern = pattern.replace(re.escape(f"{{{name}}}"), group, 1)
            seen.add(name)
        translated = messages[english]
        if english.startswith(", "):  # the end of a sentence, whose beginning is a value
            pattern, translated = rf"(?P<_beginning>.*?){pattern}", f"{{beginning}}{translated}"
        yield re.compile(pattern, re.DOTALL), translated


def _catalog(code: str) -> Mapping[str, str]:
    path = CATALOGS / code / "LC_MESSAGES" / f"{DOMAIN}.mo"
    with path.open("rb") as file:
        translations = gettext.GNUTranslations(file)
    catalog: Mapping[object, str] = translations._catalog  # type: ignore[attr-defined]
    return {
        english: text for english, text in catalog.items() if isinstance(english, str) and english
    }


def preferred_language(environment: Mapping[str, str]) -> str:
    """Return the code of the language that the user's locale asks for, or English.

    The first of LC_ALL, LC_MESSAGES and LANG that is set decides, as gettext has it; where none
    is, the system's own setting does.
    """
    names = (environment.get(name, "") for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
    asked = next(filter(None, names), "") or _system_locale()
    return "zh" if asked.lower().startswith(("zh", "chinese")) else "en"


def _system_locale() -> str:
    if os.name != "nt":
        return ""
    return locale.getlocale()[0] or ""


def stage_name(stage: str, language: Language) -> str:
    """Return the name of a stage of attention in a language.

    Its word alone is also what code is written with (``mask``), and is left as it is elsewhere.
    """
    return language(f"the stage {stage}").removeprefix("the stage ")


def message(english: str) -> str:
    """Return a text as it is: it marks one for the catalog that is translated where it is used."""
    return english


ENGLISH: Final = Language("en", {})
