"""The questions of the written assignment, from the table that holds their words."""

from __future__ import annotations

import tomllib
from importlib import resources

from harness import KeyPoint, Level, Question
from harness.answer_form import PROSE


def questions() -> tuple[Question, ...]:
    """Return the questions with blank fields, and the key points of those that a person reads."""
    table = resources.files("specs.briefs").joinpath("written_answers.toml").read_text("utf-8")
    return tuple(
        Question(
            id=str(entry["id"]),
            part=part["title"],
            text=entry["ask"],
            answers=dict.fromkeys(entry.get("fields", (PROSE,)), ""),
            points=tuple(
                KeyPoint(id=f"{entry['id']}.{place}", text=text, level=Level(level))
                for place, (level, text) in enumerate(entry.get("points", ()), start=1)
            ),
        )
        for part in tomllib.loads(table)["part"]
        for entry in part["question"]
    )
