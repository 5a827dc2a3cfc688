"""The option ``--lang``."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from harness.errors import UnknownName
from harness.language import LANGUAGES, Language, preferred_language

LanguageCode = Annotated[
    str | None, typer.Option("--lang", help="en or zh; by default as the locale says.")
]


def chosen_language(code: str | None) -> Language:
    """Return the language that was asked for, or else that of the locale.

    Raises:
        UnknownName: there is no such language.
    """
    code = code or preferred_language(os.environ)
    if code not in LANGUAGES:
        raise UnknownName("--lang", code, LANGUAGES)
    return Language.load(code)
