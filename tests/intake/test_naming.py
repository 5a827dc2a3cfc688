import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.intake.naming import ID_CAP, distinct, identifier, same, slug

SHA = "0123456789abcdef" * 4
ANY_NAME = st.text(st.characters(), max_size=120)


@pytest.mark.parametrize(
    ("name", "ending", "expected"),
    [
        ("alice.py", ".py", "alice"),
        ("Alice Smith (2).ipynb", ".ipynb", "Alice Smith (2)"),
        ("team.tar.gz", ".tar.gz", "team"),
        ("v1.2", "", "v1.2"),
        ("李雷.py", ".py", "李雷"),
        ("e\u0301tude.py", ".py", "\u00e9tude"),
        ("wide\u3000space.py", ".py", "wide space"),
        ("two\nlines.py", ".py", "two<U+000A>lines"),
        ("\u202egnp.py", ".py", "<U+202E>gnp"),
        ("<script>.py", ".py", "<script>"),
        ("../x.py", ".py", "../x"),
        ("CON.py", ".py", "CON"),
        ("-rf.py", ".py", "-rf"),
        ("   .py", ".py", "unnamed"),
    ],
)
def test_an_id_is_the_name_without_its_ending(name: str, ending: str, expected: str) -> None:
    assert identifier(name, ending) == expected


@given(ANY_NAME)
def test_any_name_gives_a_printable_composed_id_of_at_most_80_characters(name: str) -> None:
    found = identifier(name)
    assert found.isprintable()
    assert 0 < len(found) <= ID_CAP
    assert found == unicodedata.normalize("NFC", found)


@given(ANY_NAME)
def test_an_id_that_was_taken_ends_in_six_digits_and_fits(name: str) -> None:
    found = distinct(name, SHA)
    assert found.endswith("-012345")
    assert len(found) <= ID_CAP


def test_ids_that_differ_in_case_or_composition_only_are_the_same() -> None:
    assert same("ÉTUDE") == same("e\u0301tude")
    assert same("alice") != same("alicia")


@given(ANY_NAME, st.text("0123456789abcdef", max_size=64))
def test_any_id_gives_a_slug_that_every_file_system_and_url_takes(name: str, sha: str) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*-[0-9a-f]{16}", slug(name, sha))
    assert len(slug(name, sha)) <= 60


def test_a_slug_reads_like_the_id() -> None:
    assert slug("Zoë Müller (2)", SHA).startswith("zoe-muller-2-")
    assert slug("李雷", SHA).startswith("u674eu96f7-")


def test_slugs_differ_when_the_id_or_the_content_does() -> None:
    assert len({slug("a.b", SHA), slug("a-b", SHA), slug("a.b", SHA[::-1])}) == 3
