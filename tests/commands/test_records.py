"""What a folder keeps of people: made again, listed, erased. In the process sandbox, with a toy."""

import datetime
import json
import stat
from pathlib import Path

import pytest

from harness.commands import erasure
from harness.commands.grade import Request, grade_batch
from harness.commands.history import history
from harness.commands.reproduction import Reproduction, reproduce
from harness.errors import UsageError
from harness.grading import Reviews
from harness.reviews import Choice, Decision

SAMPLES = Path(__file__).parents[2] / "sample_submissions" / "positional_encoding"
RIGHT = (SAMPLES / "right_alibi_shifted_rows.py").read_text(encoding="utf-8")
CANARY = "canary_7f3a"
THEN = datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.UTC)


def grade(inbox, out, now=THEN, **changes):
    usual = {
        "paths": (inbox,), "spec": "positional_encoding", "out": out, "jobs": 1,
        "sandbox": "process", "reuse": True, "runtime": None, "seed": "7", "fresh": False,
        "single": False, "adapt": False, "for_candidates": False,
    }  # fmt: skip
    return grade_batch(Request(**usual | changes), lambda line: None, lambda: now)


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """A folder with two submissions, one of which was handed in twice."""
    root = tmp_path_factory.mktemp("records")
    inbox = root / "in"
    inbox.mkdir()
    (inbox / "ada.py").write_text(RIGHT)
    (inbox / "alan.py").write_text(RIGHT.replace("10000.0", "9000.0") + f"# {CANARY}\n")
    grade(inbox, root / "out")
    (inbox / "alan.py").write_text(RIGHT + f"# {CANARY}\n")
    grade(inbox, root / "out", now=THEN + datetime.timedelta(days=40))
    return root / "out"


def files_with(text, folder):
    return [path.name for path in folder.rglob("*") if path.is_file() and text in path.read_bytes()]


def test_history_shows_how_each_result_moved(graded):
    lines = [line.plain for line in history(graded)]
    assert [line for line in lines if not line.startswith(" ")] == ["ada", "alan"]
    moved = lines[lines.index("alan") + 1 :]
    assert "failed" in moved[0] and "2026-01-02T03:04:05+00:00" in moved[0]
    assert "failed" not in moved[1] and "2026-02-11" in moved[1]


def test_times_are_in_the_results_and_the_first_start_stays(graded):
    results = json.loads((graded / "results.json").read_text())
    assert results["started"] == "2026-01-02T03:04:05+00:00"
    assert results["finished"] == "2026-02-11T03:04:05+00:00"


def test_each_line_of_the_stream_is_a_submission_of_the_results(graded):
    results = json.loads((graded / "results.json").read_text())["submissions"]
    lines = (graded / "results.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == results


def test_what_holds_the_seed_is_its_owners_alone(graded):
    for name in ("results.json", "results.jsonl", "ledger.sqlite"):
        assert stat.S_IMODE((graded / name).stat().st_mode) == 0o600


def test_a_verdict_is_made_again_from_what_the_folder_keeps(graded):
    said = []
    assert reproduce(graded, "alan", said.append) == Reproduction(changed=(), differences=())
    assert said == []


def test_what_is_not_as_it_was_is_named_with_what_to_install(graded, monkeypatch):
    from harness.commands import job

    monkeypatch.setattr(job, "versions", lambda: {"python": "3.99", "numpy": "9.9"})
    said = []
    assert not reproduce(graded, "ada", said.append).differences
    assert any("numpy is 9.9, was" in line and "pip install numpy==" in line for line in said)


def test_a_submission_that_is_not_there_is_a_mistake_of_the_caller(graded):
    with pytest.raises(UsageError, match="--history"):
        reproduce(graded, "grace", lambda line: None)
    with pytest.raises(UsageError, match="holds no submission"):
        erasure.forget(graded, "grace", lambda line: None)


def test_what_is_due_is_listed_by_the_age_of_its_card(graded):
    said = []
    now = THEN + datetime.timedelta(days=45)
    assert erasure.say_what_is_due(graded, 30, now, said.append) == 1
    assert said[0] == "due: ada, graded 2026-01-02T03:04:05+00:00"
    assert erasure.say_what_is_due(graded, 50, now, said.append) == 0


def test_retention_days_are_read_from_the_settings_of_the_folder(graded):
    with pytest.raises(UsageError, match="has retention_days, expected"):
        erasure.retention_days(graded)
    (graded.parent / "takehome.toml").write_text("retention_days = 30\n")
    assert erasure.retention_days(graded) == 30


def test_of_a_forgotten_submission_no_byte_is_left(graded):
    """The last test of the folder: it changes it."""
    with Reviews(graded) as reviews:
        reviews.append(
            [Decision(submission="alan", reviewer="g", time="t", choice=Choice.HOLD, reason=CANARY)]
        )
    assert files_with(CANARY.encode(), graded)
    erasure.forget(graded, "alan", lambda line: None)
    assert not files_with(CANARY.encode(), graded)
    assert not files_with(b"alan", graded)
    results = json.loads((graded / "results.json").read_text())
    assert [one["id"] for one in results["submissions"]] == ["ada"]
