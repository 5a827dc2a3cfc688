"""The questions of the written assignment, from the table that holds their words."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib import resources
from typing import Any, Final

from harness import KeyPoint, Level, Question, RedFlag
from harness.answer_form import PROSE

#: What the texts call a number -> the number, in the form that all get without a draw.
STANDARD: Final = {
    "B": "2",
    "T": "4",
    "d_model": "8",
    "h": "2",
    "d_head": "4",
    "short": "4",
    "long": "5",
    "scores": "[2, 1, 0]",
    "growth": "2",
    "context": "4",
}


def questions(numbers: Mapping[str, str] = STANDARD) -> tuple[Question, ...]:
    """Return the questions with blank fields, and the key points of what a person reads."""
    table = resources.files("specs.briefs").joinpath("written_answers.toml").read_text("utf-8")
    for name, number in numbers.items():
        table = table.replace(f"<{name}>", number)
    return tuple(
        _question(part, entry)
        for part in tomllib.loads(table)["part"]
        for entry in part["question"]
    )


def _question(part: Mapping[str, Any], entry: Mapping[str, Any]) -> Question:
    number = str(entry["id"])
    prose = [entry.get("prose", PROSE)] if "prose" in entry or "fields" not in entry else []
    return Question(
        id=number,
        part=part["title"],
        part_zh=part["title_zh"],
        text=entry["ask"],
        text_zh=entry["ask_zh"],
        answers=dict.fromkeys([*entry.get("fields", ()), *prose], ""),
        points=tuple(
            KeyPoint(id=f"{number}.{place}", level=Level(level), text=text, text_zh=chinese)
            for place, (level, text, chinese) in enumerate(entry.get("points", ()), start=1)
        ),
        red_flags=tuple(
            RedFlag(text=text, text_zh=chinese) for text, chinese in entry.get("red_flags", ())
        ),
        model_answer=entry.get("model", ""),
        model_answer_zh=entry.get("model_zh", ""),
    )
