import re

import pytest

from harness.language import LANGUAGES, Language, preferred_language

SOME = Language(
    "xx",
    {
        "Not right yet: {fact}": "noch nicht: {fact}",
        "{0} has shape {1}, expected {2}": "{2} statt {1} bei {0}",
        ", {0} × the bound": "; {0}-mal die Schranke",
        "out": "Ausgabe",
    },
)


def test_a_text_is_translated_and_its_values_are_put_in():
    assert SOME("Not right yet: {fact}", fact="{x} %s") == "noch nicht: {x} %s"
    assert SOME("unknown {n}", n=3) == "unknown 3"


def test_a_sentence_with_values_is_known_by_its_form():
    assert SOME.sentence("out has shape (2, 3), expected (2,)") == "(2,) statt (2, 3) bei Ausgabe"
    assert SOME.sentence("x is 1, 3e+12 × the bound") == "x is 1; 3e+12-mal die Schranke"


def test_a_sentence_that_is_not_known_stays():
    for text in ("", "something else", "out has shape\nand no more"):
        assert SOME.sentence(text) == text


@pytest.mark.parametrize(
    ("environment", "code"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LC_MESSAGES": "zh_TW", "LANG": "de_DE.UTF-8"}, "zh"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
    ],
)
def test_the_locale_chooses_the_language(environment, code):
    assert preferred_language(environment) == code


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_language_has_a_catalog(code):
    assert Language.load(code).code == code


def test_a_short_form_is_seen_in_no_longer_sentence():
    short = Language("xx", {"{0} of {1} points": "{0}/{1} Punkte"})
    assert short.sentence("3 of 4 points") == "3/4 Punkte"
    assert short.sentence("27 of 30 checks, 3 of 4 points") == "27 of 30 checks, 3 of 4 points"


def test_the_words_of_a_form_may_stand_in_what_a_sentence_is_about():
    chinese = Language.load("zh")
    subject = "out with a query that has no allowed key"
    found = chinese.sentence(f"{subject} has 2 of 4 values that are NaN or infinite")
    assert found.startswith(chinese.sentence(subject))
    assert not re.search("[a-z]{4}", found)
