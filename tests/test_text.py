import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.text import hidden_characters, join_lines, one_line, sanitise, visible
from reports.text import shown

ANYTHING = st.text(st.characters(), max_size=200)  # lone surrogates too
UNSEEN = [0x202E, 0x2066, 0x200B, 0xFEFF, 0x061C, 0x3164, 0xE0041, 0xD800, 0x1B, 0x9B, 0x7F, 0x0D]


@pytest.mark.parametrize("code", UNSEEN, ids="U+{:04X}".format)
def test_a_character_that_cannot_be_seen_is_spelled_out(code: int) -> None:
    assert sanitise(f"a{chr(code)}b") == f"a<U+{code:04X}>b"


@pytest.mark.parametrize("text", ["plain", "two\nlines\tand a tab", "李雷 é ❤️ √d", ""])
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert sanitise(text) == text


def test_windows_newlines_become_newlines_and_a_lone_return_is_spelled_out() -> None:
    assert sanitise("a\r\nb\rc") == "a\nb<U+000D>c"


def test_a_terminal_command_cannot_survive() -> None:
    assert "\x1b" not in sanitise("\x1b]52;c;aGk=\x07\x1b[2J")


@given(ANYTHING, st.integers(0, 300))
@example("\r\r\n", 5)
@example("<U+<U+", 40)
@example("\u202e" * 40, 60)
def test_sanitised_text_is_short_safe_and_stable(text: str, cap: int) -> None:
    safe = sanitise(text, cap)
    assert len(safe) <= cap
    assert sanitise(safe, cap) == safe
    for character in safe:
        assert unicodedata.category(character) not in ("Cc", "Cs") or character in "\n\t"
        assert unicodedata.bidirectional(character) not in {
            "LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI",
        }  # fmt: skip
    assert "\u200b" not in safe
    safe.encode()


@given(ANYTHING)
def test_text_with_its_newlines_spelled_out_has_one_line(text: str) -> None:
    line = one_line(text)
    assert "\n" not in line
    assert "\t" not in line


def test_the_lines_of_a_text_are_joined() -> None:
    assert join_lines("a\n  b\r\n\tc") == "a b c"


def test_reports_spell_out_what_the_harness_does() -> None:
    """There was once a second set, which lacked the first three and several more."""
    everything = "".join(map(chr, (0x34F, 0x17B4, 0x1BCA0, *UNSEEN)))
    assert visible(everything) == sanitise(everything)
    assert shown(everything) == sanitise(everything)


def test_a_cut_is_marked_with_the_length_of_the_whole() -> None:
    cut = sanitise("x" * 5000, 100)
    assert cut.endswith(" … (cut; 5,000 characters)")
    assert len(cut) == 100


def test_a_cut_never_leaves_half_an_escape() -> None:
    for cap in range(30, 60):
        assert "<U" not in sanitise("\u202e" * 50, cap).replace("<U+202E>", "")


def test_hidden_characters_are_found_with_their_lines() -> None:
    assert list(hidden_characters("a\nb\u202ec\nd\u200b")) == [(2, "U+202E"), (3, "U+200B")]
