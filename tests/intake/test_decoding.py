import pytest

from harness.errors import Refused
from harness.intake.decoding import decode_python, oddities


@pytest.mark.parametrize(
    "data",
    [
        b"x = 1\n",
        b"\xef\xbb\xbfx = 1\n",
        b"# -*- coding: utf-8 -*-\nx = 1\n",
        b"#!/usr/bin/env python3\n# vim: set fileencoding=utf8 :\nx = 1\n",
        b"x = 1\r\n",
        b"x = 1\r",
    ],
)
def test_utf8_in_its_usual_spellings_is_read(data: bytes) -> None:
    assert decode_python("a.py", data).endswith("x = 1\n")


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ("é".encode("latin-1"), "a.py is not UTF-8 (byte 0 is 0xe9)"),
        (b"\xed\xa0\x80", "a.py is not UTF-8"),
        (b"x\0y", "a.py has a NUL character"),
        (b"# coding: gbk\n\xff", "a.py says its coding is gbk, and byte 14 is not"),
        (b"# coding: unicode_escape\n", "a.py says its coding is unicode-escape"),
        (b"#\n# coding: utf-7\n+AHg-", "a.py says its coding is utf-7"),
        (b"# coding: rot13\n", "a.py says its coding is rot-13"),
        (b"# coding: no-such-thing\n", "a.py says a coding that does not exist"),
    ],
)
def test_another_encoding_is_refused(data: bytes, why: str) -> None:
    with pytest.raises(Refused) as refused:
        decode_python("a.py", data)
    assert str(refused.value).startswith(why)


@pytest.mark.parametrize("coding", ["gbk", "gb18030", "big5", "shift_jis", "euc-kr"])
def test_a_declared_encoding_is_read(coding: str) -> None:
    text = f"# -*- coding: {coding} -*-\nx = '中'\n"
    assert decode_python("a.py", text.encode(coding)) == text


@pytest.mark.parametrize("coding", ["latin-1", "cp1252", "iso-8859-15"])
def test_a_declared_encoding_of_europe_is_read(coding: str) -> None:
    text = f"# coding: {coding}\nx = 'é'\n"
    assert decode_python("a.py", text.encode(coding)) == text


def test_utf16_is_read_by_its_mark() -> None:
    assert decode_python("a.py", "x = '中'\r\n".encode("utf-16")) == "x = '中'\n"


def test_a_cookie_below_code_is_only_a_comment() -> None:
    assert decode_python("a.py", b"x = 1\n# coding: latin-1\n")


def test_hidden_characters_are_noted_with_their_line() -> None:
    assert list(oddities("a\nif role != '\u202e':\n")) == ["line 2 has the hidden character U+202E"]


def test_code_pushed_off_the_screen_is_noted() -> None:
    assert list(oddities("x = 1" + " " * 500 + "; import os\n" + "y = 2" + " " * 500)) == [
        "line 1 has code after more than 200 blanks"
    ]


def test_many_oddities_make_few_notes() -> None:
    assert len(list(oddities("\u200b\n" * 5000))) == 9
