"""A page in another language: every text that the catalog has is put into it, and nothing else.

A page is rendered in English and translated text by text, so that there is one set of templates,
and a batch that was graded in English can be read in Chinese. Source, printed text and code stay
as they are.
"""

from __future__ import annotations

import html
import re
from typing import Final

from harness.language import Language

#: What is left alone, tags and all; what is between two tags; the attributes that are read out.
_KEPT: Final = (
    r"<(?P<kept>style|script|pre|code|textarea|h1)\b.*?</(?P=kept)>"
    r"|<(?P<mono>\w+) class=\"mono\">.*?</(?P=mono)>"
)
#: The Chinese word beside an English one.
_BESIDE: Final = re.compile(r' <span lang="zh-Hans">[^<]*</span>')
_TAG: Final = r"<[^>]*>"
_TEXT: Final = r"[^<]+"
_PIECES: Final = re.compile(f"{_KEPT}|{_TAG}|{_TEXT}", re.DOTALL)
_READ_OUT: Final = re.compile(r'\b(aria-label|title|placeholder)="([^"]*)"')


def translated(page: str, language: Language) -> str:
    """Return a page in a language; in English it is as it was."""
    if language.code == "en":
        return page
    if language.code == "zh":
        page = _BESIDE.sub("", page)
    return "".join(_piece(found, language) for found in _PIECES.finditer(page))


def _piece(found: re.Match[str], language: Language) -> str:
    text = found[0]
    if found["kept"] or found["mono"]:
        return text
    if not text.startswith("<"):
        return _text(text, language)
    if text.startswith("<html"):
        return re.sub(r'lang="[^"]*"', f'lang="{language.code}"', text)
    return _READ_OUT.sub(lambda one: f'{one[1]}="{_text(one[2], language)}"', text)


def _text(text: str, language: Language) -> str:
    """Translate a text between two tags, and keep the blanks around it."""
    bare = text.strip()
    if not re.search("[A-Za-z]{2}", bare):
        return text
    english = " ".join(html.unescape(bare).split())
    found = language.sentence(english)
    if found == english and english.endswith("."):
        found = language.sentence(english[:-1])
        found = english if found == english[:-1] else f"{found}。"
    if found == english:
        return text
    return text.replace(bare, html.escape(found, quote=True), 1)
