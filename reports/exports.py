"""Results in the formats of other systems, with what a candidate may be told and no more.

Gradescope: https://gradescope-autograders.readthedocs.io/en/latest/specs/#output-format
GitHub Classroom: https://github.com/classroom-resources/autograding-grading-reporter, which adds
up ``max_score`` and the scores of the ``tests`` of each result, carried in base64.
Canvas: https://community.canvaslms.com/docs/DOC-12762, a gradebook in CSV; the student is found by
``ID`` or ``SIS Login ID``, else by name.
"""

from __future__ import annotations

import base64
import csv
import io
from collections.abc import Callable, Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any, Final

import msgspec

from harness.candidate_view import CandidateCard, CandidateCheck, for_candidate
from harness.results import BatchResults, Card, Outcome, SubmissionResult, to_json
from harness.roster import Person
from harness.text import join_lines
from reports.table import formula_safe, render_csv
from reports.text import shown

#: Name of a file, and its content.
Files = Iterable[tuple[str, bytes]]
People = Mapping[str, Person]  #: by submission

_FIELD: Final = 4000
#: Outcomes of checks that count neither for nor against anybody.
_LEFT_OUT: Final = (Outcome.NOT_APPLICABLE, Outcome.INVALID)


def export(name: str, results: BatchResults, cards: Iterable[Card], people: People) -> Files:
    """Yield the files of one format; what was not scored is in none but csv, json and jsonl."""
    return FORMATS[name](results, cards, people)


def _gradescope(results: BatchResults, cards: Iterable[Card], people: People) -> Files:
    for card in _scored(cards):
        yield f"gradescope/{_slug(card.result)}.json", _pretty(gradescope(for_candidate(card)))


def gradescope(card: CandidateCard) -> dict[str, Any]:
    """Return the ``results.json`` of Gradescope for one submission."""
    safe = shown(card, field=_FIELD)
    return {
        "score": safe.earned or 0,
        "output": safe.reason or f"level reached: {safe.level}",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "extra_data": {"spec": safe.spec, "verdict": safe.verdict, "level": safe.level},
        "tests": [
            {
                "name": check.title,
                "number": str(number),
                "score": check.earned,
                "max_score": check.points,
                "status": "passed" if check.outcome is Outcome.PASSED else "failed",
                "output": _advice(check),
                "tags": [check.level],
                "visibility": "visible",
            }
            for number, check in enumerate(_counting(safe), 1)
        ],
    }


def _classroom(results: BatchResults, cards: Iterable[Card], people: People) -> Files:
    for card in _scored(cards):
        content = msgspec.json.encode(classroom(for_candidate(card)))
        yield f"classroom/{_slug(card.result)}.b64", base64.b64encode(content) + b"\n"


def classroom(card: CandidateCard) -> dict[str, Any]:
    """Return the result of a GitHub Classroom autograding runner for one submission."""
    safe = shown(card, field=_FIELD)
    checks = _counting(safe)
    passed = all(check.outcome is Outcome.PASSED for check in checks)
    return {
        "version": 1,
        "status": "pass" if passed else "fail",
        "max_score": sum(check.points for check in checks),
        "tests": [
            {
                "name": check.title,
                "status": "pass" if check.outcome is Outcome.PASSED else "fail",
                "score": check.earned,
                "message": _advice(check),
                "test_code": check.id,
                "filename": check.file,
                "line_no": check.line or 0,
            }
            for check in checks
        ],
    }


def _canvas(results: BatchResults, cards: Iterable[Card], people: People) -> Files:
    scored = [one for one in results.submissions if one.earned is not None]
    possible = max((one.possible for one in scored), default=0)
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow(["Student", "ID", "SIS User ID", "SIS Login ID", "Section", results.title])
    writer.writerow(["    Points Possible", "", "", "", "", possible])
    for one in scored:
        person = people.get(one.id, Person(name=one.id))
        fields = (person.name, person.id, "", person.login, person.section)
        cells = (formula_safe(join_lines(shown(field))) for field in fields)
        writer.writerow([*cells, one.earned])
    yield "canvas.csv", buffer.getvalue().encode()


def _csv(results: BatchResults, cards: Iterable[Card], people: People) -> Files:
    yield "results.csv", render_csv(results).encode()


def _json(results: BatchResults, cards: Iterable[Card], people: People) -> Files:
    yield "results.json", to_json(msgspec.structs.replace(results, seed=""))


def _jsonl(results: BatchResults, cards: Iterable[Card], people: People) -> Files:
    lines = (msgspec.json.encode(one) + b"\n" for one in results.submissions)
    yield "results.jsonl", b"".join(lines)


FORMATS: Final[Mapping[str, Callable[[BatchResults, Iterable[Card], People], Files]]] = {
    "gradescope": _gradescope,
    "classroom": _classroom,
    "canvas": _canvas,
    "csv": _csv,
    "json": _json,
    "jsonl": _jsonl,
}


def _scored(cards: Iterable[Card]) -> Iterable[Card]:
    return (card for card in cards if card.result.earned is not None)


def _counting(card: CandidateCard) -> list[CandidateCheck]:
    return [check for check in card.checks if check.outcome not in _LEFT_OUT]


def _advice(check: CandidateCheck) -> str:
    if check.outcome is Outcome.PASSED:
        return ""
    return "\n".join(filter(None, (check.message, check.hint)))


def _slug(result: SubmissionResult) -> str:
    return PurePosixPath(result.card).stem or "submission"


def _pretty(content: dict[str, Any]) -> bytes:
    return msgspec.json.format(msgspec.json.encode(content), indent=1)
