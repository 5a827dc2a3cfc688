"""A page in another language: every text that the catalog has is put into it, and nothing else.

A page is rendered in English and translated text by text, so that there is one set of templates,
and a batch that was graded in English can be read in Chinese. Source, printed text and code stay
as they are.
"""

from __future__ import annotations

import html
import re
from typing import Final

import msgspec

from harness.language import Language, stage_name
from harness.results import Stage

#: What is left alone, tags and all (a heading of the first level is a name, unless it is ours);
#: what is between two tags; the attributes that are read out.
_KEPT: Final = (
    r"<(?P<kept>style|script|pre|code|textarea|h1(?! class=\"ours\"))\b.*?</(?P=kept)>"
    r"|<(?P<mono>\w+) class=\"mono\">.*?</(?P=mono)>"
)
#: The Chinese word beside an English one.
_BESIDE: Final = re.compile(r' <span lang="zh-Hans">[^<]*</span>')
_TAG: Final = r"<[^>]*>"
_TEXT: Final = r"[^<]+"
_STAGES: Final = frozenset(Stage)
#: What the script of the cohort page reads; ``words`` is what it shows for what.
_DATA: Final = re.compile(r'(<script type="application/json"[^>]*>)(.*)(</script>)', re.DOTALL)
_SPELLED_BY_SCRIPT: Final = ("line {0}", "{0} of {1} checks passed")
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
    if data := _DATA.fullmatch(text):
        return data[1] + _data(data[2], language) + data[3]
    if found["kept"] or found["mono"]:
        return text
    if not text.startswith("<"):
        return _text(text, language)
    if text.startswith("<html"):
        return re.sub(r'lang="[^"]*"', f'lang="{language.code}"', text)
    return _READ_OUT.sub(lambda one: f'{one[1]}="{_text(one[2], language)}"', text)


def _data(text: str, language: Language) -> str:
    """Add to a script's data what each of its words is in a language."""
    data = msgspec.json.decode(text)
    words = {
        word for kind in ("verdicts", "levels", "choices") for row in data[kind] for word in row
    }
    words |= {*data["checks"], *data["texts"], *(name.capitalize() for name, _ in data["levels"])}
    spoken = {word: _spoken(word, language) for word in sorted(words)}
    spoken |= {form: language(form) for form in _SPELLED_BY_SCRIPT}
    data["words"] = {word: other for word, other in spoken.items() if word != other}
    encoded = msgspec.json.encode(data).decode()
    return encoded.replace("<", "\\u003c").replace("\u2028", "\\u2028")


def _spoken(english: str, language: Language) -> str:
    """Return a text of a page in a language, or as it is where the catalog does not have it."""
    if english in _STAGES:
        return stage_name(english, language)
    if (found := _known(english, language)) or not (listed := english.split("; "))[1:]:
        return found or english
    parts = [_known(part, language) for part in listed]
    return "；".join(parts) if all(parts) else english


def _known(english: str, language: Language) -> str:
    """Return a text in a language, wherever in a sentence it stands; "" where it is not known."""
    bare = english.removesuffix(".")
    end = "。" if bare != english else ""
    for text in (english, bare, bare[:1].lower() + bare[1:], bare[:1].upper() + bare[1:]):
        if (found := language.sentence(text)) != text:
            return found if text == english else found + end
    return ""


def _text(text: str, language: Language) -> str:
    """Translate a text between two tags, and keep the blanks around it."""
    bare = text.strip()
    if not re.search("[A-Za-z]{2}", bare):
        return text
    english = " ".join(html.unescape(bare).split())
    found = _spoken(english, language)
    if found == english:
        return text
    return text.replace(bare, html.escape(found, quote=True), 1)
