"""A roster: who handed in what, and what a mistake in it says."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.roster import people_by_submission, read_roster


def roster(folder: Path, text: str) -> Path:
    path = folder / "roster.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_people_of_any_script_and_length_own_their_submissions(tmp_path: Path) -> None:
    long = "長" * 200
    text = f"\ufeffname,file,id\n王伟,wang*,7\n{long},,8\nAda,ada,9\nAda,ada,10\n"
    people = read_roster(roster(tmp_path, text))
    owners = people_by_submission(people, ["wang-2", long, "ada", "nobody"])
    assert {name: person.id for name, person in owners.items()} == {
        "wang-2": "7",
        long: "8",
        "ada": "9",
    }


def test_late_is_known_from_the_roster_alone(tmp_path: Path) -> None:
    text = "name,handed_in\nAda,2026-12-01T18:00:01+01:00\nKurt,\n"
    ada, kurt = read_roster(roster(tmp_path, text))
    deadline = datetime.datetime.fromisoformat("2026-12-01T17:00:00+00:00")
    assert ada.is_late(deadline)
    assert not ada.is_late(None)
    assert not kurt.is_late(deadline)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "line 1 has no column name"),
        ("nam,id\n", "line 1 has no column name"),
        ("name,logins\n", "did you mean login?"),
        ("name,id\nAda,1,2\n", "line 2 has 3 fields"),
        ("name,id\n,1\n", "line 2 has no name"),
        ('name\n"Ada\n', "is no CSV"),
        ("name,handed_in\nAda,yesterday\n", "line 2: handed_in is 'yesterday'"),
    ],
)
def test_a_mistake_is_named_with_its_line(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as raised:
        read_roster(roster(tmp_path, text))
    assert words in str(raised.value)
    assert "roster.csv" in str(raised.value)
