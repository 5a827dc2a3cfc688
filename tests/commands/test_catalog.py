"""What a person may read is translated; this finds what is not."""

import io
import re

import pytest

from harness.commands import catalog
from harness.language import LANGUAGES, Language

babel = pytest.importorskip("babel.messages.pofile")
OTHERS = [code for code in LANGUAGES if code != "en"]


@pytest.fixture(scope="module", params=OTHERS)
def messages(request):
    """The catalog of a language as its translator writes it."""
    path = catalog.LOCALE / request.param / "LC_MESSAGES" / "takehome.po"
    return babel.read_po(io.BytesIO(path.read_bytes()), locale=request.param)


def untranslated(messages, texts):
    return sorted(text for text in texts if not (found := messages.get(text)) or not found.string)


def test_all_that_the_commands_and_pages_say_is_translated(messages):
    missing = untranslated(messages, set(catalog.texts_of_code()))
    assert not missing, "translate these in takehome.po, then run the module catalog"


def test_titles_hints_and_messages_of_checks_are_translated(messages):
    missing = untranslated(messages, {*catalog.texts_of_checks(), *catalog.forms_of_sentences()})
    assert not missing, "translate these in takehome.po, then run the module catalog"


def test_no_text_of_the_catalog_is_without_a_translation(messages):
    """Questions, answers and the names of bugs among them."""
    assert [entry.id for entry in messages if entry.id and not entry.string] == []


def test_the_compiled_catalog_is_that_of_the_translator(messages):
    language = Language.load(str(messages.locale))
    for entry in messages:
        if entry.id and entry.string:
            assert language(entry.id) == entry.string


def test_a_translation_has_the_values_of_its_text(messages):
    for entry in messages:
        if entry.string:
            values = set(re.findall(r"\{\w+\}", entry.id))
            assert set(re.findall(r"\{\w+\}", entry.string)) == values, entry.id


def test_terms_are_those_of_the_source_documents(messages):
    words = {"pass": "合格", "good": "良好", "excellent": "优秀"}
    assert {english: messages.get(english).string for english in words} == words
    text = "".join(entry.string for entry in messages if entry.string)
    for term in ("查询", "键", "值", "掩码"):
        assert term in text
