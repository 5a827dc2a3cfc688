"""What to ask the author of a right answer next: written questions that lead on from the code."""

from __future__ import annotations

from harness import FollowUp
from specs.briefs.questionnaire import questions


def ask_next(*numbers: int) -> tuple[FollowUp, ...]:
    """Return these written questions, each with its key points and their levels."""
    known = {question.id: question for question in questions()}
    return tuple(
        FollowUp(
            question=known[str(number)].text,
            answer=known[str(number)].model_answer,
            written=str(number),
            points=known[str(number)].points,
        )
        for number in numbers
    )
