"""The briefs in Chinese say what the English ones say, as far as a program can tell."""

from __future__ import annotations

import re

import pytest

import specs


@pytest.mark.parametrize("name", specs.TITLES)
def test_a_brief_has_the_same_code_tables_and_levels_in_chinese(name: str) -> None:
    spec = specs.load(name)
    english, chinese = specs.brief(spec, "en"), specs.brief(spec, "zh")
    assert english == spec.brief
    assert chinese != english
    for pattern in (r"```.*?```", r"`[^`\n]+`"):
        written, translated = (
            sorted(set(re.findall(pattern, text, re.DOTALL))) for text in (english, chinese)
        )
        assert written == translated
    assert english.count("\n|") == chinese.count("\n|")
    assert [level in chinese for level in ("合格", "良好", "优秀")] == [
        level in english for level in ("*Pass*", "*Good*", "*Excellent*")
    ]


def test_a_language_without_briefs_gets_the_english_one() -> None:
    spec = specs.load("numpy_attention")
    assert specs.brief(spec, "fr") == spec.brief
