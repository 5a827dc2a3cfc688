"""Writes the catalogs of translations: ``python -m harness.commands.catalog``, which needs Babel.

A catalog has every text that a person may read: those that code asks a `Language` for, those of
the templates and assignments, and the forms of sentences that are made with values in them. What
is no longer used is dropped; what is new has no translation yet, and is listed.
"""

from __future__ import annotations

import ast
import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import harness
import specs
from harness.language import LANGUAGES

ROOT: Final = Path(harness.__file__).parents[1]
LOCALE: Final = ROOT / "harness" / "language" / "locale"
#: What a text is given to in code that is translated.
KEYWORDS: Final = {"translate": None, "language": None, "_language": None, "message": None}
#: Where sentences are made with their values in them, and by what.
SENTENCES: Final = (
    "specs", "harness/spec", "harness/candidate", "harness/grading", "harness/intake",
    "harness/parsing", "harness/sandbox",
)  # fmt: skip
#: Of these, where a function that returns a text makes a sentence.
CHECKING: Final = frozenset({"harness/spec", "harness/candidate", "harness/grading"})
MAKERS: Final = frozenset(
    {
        "require", "within", "note", "CheckFailed", "NotOffered", "NotMeasured", "Unread",
        "Refused", "CandidateCrashed", "CandidateTimedOut", "OutOfResources",
        "ProtocolViolation", "SubmissionEnded", "ContractFlaw", "close", "exactly", "finite",
        "shape",
    }
)  # fmt: skip


def texts_of_code() -> Iterator[str]:
    """Yield the texts that code and templates ask a language for."""
    from babel.messages.extract import extract

    methods = (("harness", "*.py", "python"), ("reports", "*.py", "python"))
    for folder, pattern, method in (
        *methods,
        ("reports", "*.html", "jinja2.ext.babel_extract"),
    ):
        for path in sorted((ROOT / folder).rglob(pattern)):
            content = io.BytesIO(path.read_bytes())
            options = {"trim_blocks": "true", "lstrip_blocks": "true", "silent": "false"}
            for _, text, _, _ in extract(method, content, KEYWORDS, options=options):
                yield text if isinstance(text, str) else text[0]


def texts_of_pages() -> Iterator[str]:
    """Yield what pages say, one text to a line of a file, a number in braces for each value."""
    path = LOCALE.parent / "page_texts.txt"
    yield from path.read_text(encoding="utf-8").splitlines()


def texts_of_checks() -> Iterator[str]:
    """Yield the titles, reasons and hints of all checks, and the titles of assignments."""
    for name, summary in specs.TITLES.items():
        spec = specs.load(name)
        drawn = spec.forms.draw(len(spec.questions), "0").checks if spec.forms else ()
        yield from (summary, spec.title)
        for check in (*spec.checks, *drawn):
            yield check.criterion.title
            if check.criterion.why:
                yield check.criterion.why
            if check.criterion.hint:
                yield check.criterion.hint


def texts_of_flaws() -> Iterator[str]:
    """Yield the titles of all flaws, and what to ask about them."""
    for name in specs.TITLES:
        for flaw in specs.load(name).flaws:
            yield from filter(None, (flaw.title, flaw.question, flaw.answer))


def texts_of_next_questions() -> Iterator[str]:
    """Yield what is asked about right answers, and what a good answer says."""
    for name in specs.TITLES:
        for asked in specs.load(name).next_questions:
            yield from (asked.question, asked.answer)
            yield from (point.text for point in asked.points)


def forms_of_sentences() -> Iterator[str]:
    """Yield the form of every sentence that a check or an error is made of."""
    for folder in SENTENCES:
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                match node:
                    case ast.Call() if _name(node.func) in MAKERS:
                        for argument in (*node.args, *(k.value for k in node.keywords)):
                            yield from _forms(argument)
                    case ast.Return(value=ast.JoinedStr() as value) if folder in CHECKING:
                        yield from _forms(value)
                    case ast.JoinedStr() if path.name == "comparison.py":
                        yield from _forms(node)


def _name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _forms(node: ast.expr) -> Iterator[str]:
    """Yield the forms of a text: a number in braces stands for each value."""
    match node:
        case ast.IfExp():
            yield from _forms(node.body)
            yield from _forms(node.orelse)
        case ast.Constant(value=str(text)) if " " in text:
            yield text
        case ast.JoinedStr():
            text, count = "", 0
            for part in node.values:
                if isinstance(part, ast.Constant):
                    text += str(part.value)
                else:
                    text, count = f"{text}{{{count}}}", count + 1
            if len(re.findall("[A-Za-z]{2,}", text)) > 1:  # enough to be known by
                yield text


def all_texts() -> set[str]:
    """Return every text of the catalogs, in English."""
    sources = (
        texts_of_code,
        texts_of_pages,
        texts_of_checks,
        texts_of_flaws,
        texts_of_next_questions,
        forms_of_sentences,
    )
    return {text for source in sources for text in source()}


def update(code: str) -> list[str]:
    """Write the catalog of a language again, and return what has no translation."""
    from babel.messages.catalog import Catalog
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po, write_po

    path = LOCALE / code / "LC_MESSAGES" / "takehome.po"
    known = Catalog()
    if path.exists():
        known = read_po(io.BytesIO(path.read_bytes()), locale=code)
    date = known.creation_date  # that of the first time: a catalog changes with its texts only
    catalog = Catalog(
        locale=code, project="takehome", fuzzy=False, creation_date=date, revision_date=date
    )
    for text in sorted(all_texts()):
        entry = known.get(text)
        catalog.add(text, entry.string if entry else "")
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        write_po(file, catalog, width=100, omit_header=False, no_location=True)
    with path.with_suffix(".mo").open("wb") as file:
        write_mo(file, catalog)
    return [str(entry.id) for entry in catalog if entry.id and not entry.string]


def main() -> None:
    """Write the catalogs of all languages but English, and say what they lack."""
    for code in LANGUAGES:
        if code != "en":
            missing = update(code)
            lines = (f"{code}: {len(missing)} texts have no translation", *missing)
            sys.stderr.write("".join(f"{line}\n" for line in lines))


if __name__ == "__main__":
    main()
