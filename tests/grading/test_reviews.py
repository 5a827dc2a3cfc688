import sqlite3
import subprocess
import sys
import threading

import pytest

from harness.errors import SandboxBroken
from harness.grading.ledger import Ledger
from harness.grading.ledger_file import FILE
from harness.grading.reviews import Reviews
from harness.results import Verdict
from harness.reviews import WHOLE_FORM, Choice, Decision, Mark, Note

TIME = "2026-11-30T09:00:00+00:00"


def note(submission, text, reviewer="grace"):
    return Note(submission=submission, reviewer=reviewer, time=TIME, text=text)


def test_what_is_written_is_read_again_as_it_was_and_in_order(tmp_path):
    decisions = [
        Decision(submission="阿达", reviewer="grace", time=TIME, choice=Choice.ADVANCE),
        Decision(
            submission="阿达", reviewer="grace", time=TIME, choice=Choice.HOLD,
            verdict=Verdict.PASSED, reason="the scale is there, spelled as d**-0.5", sha256="ab",
        ),
    ]  # fmt: skip
    marks = [
        Mark(submission="阿达", reviewer="grace", time=TIME, point="8.1", share=0.5),
        Mark(submission="阿达", reviewer="grace", time=TIME, point=WHOLE_FORM, share=1.0),
        Mark(submission="阿达", reviewer="grace", time=TIME, point="8.1", share=None),
    ]
    with Reviews(tmp_path) as reviews:
        reviews.append([*decisions, note("阿达", "ask about d_k"), *marks])
    with Reviews(tmp_path) as reviews:
        assert reviews.decisions() == decisions
        assert reviews.notes() == [note("阿达", "ask about d_k")]
        assert reviews.marks() == marks


def test_the_entries_of_one_submission_are_read_alone(tmp_path):
    with Reviews(tmp_path) as reviews:
        reviews.append([note("ada", "first"), note("alan", "second"), note("ada", "third")])
        assert [one.text for one in reviews.notes("ada")] == ["first", "third"]
        assert reviews.decisions("ada") == []


def test_an_entry_is_never_replaced(tmp_path):
    with Reviews(tmp_path) as reviews:
        reviews.append([note("ada", "first")])
    with sqlite3.connect(tmp_path / FILE) as database:
        for table in ("decisions", "notes", "marks"):
            database.execute(f"INSERT INTO {table} (submission, entry) VALUES ('alan', x'00')")
            with pytest.raises(sqlite3.IntegrityError, match="appended, never replaced"):
                database.execute(f"UPDATE {table} SET submission = 'grace'")


def test_of_entries_that_belong_together_none_is_written_when_one_cannot_be(tmp_path):
    with Reviews(tmp_path) as reviews:
        with pytest.raises(KeyError):
            reviews.append([note("ada", "first"), "no entry"])
        assert reviews.notes() == []


def test_reviews_are_written_while_the_folder_is_graded_into(tmp_path):
    with Ledger(tmp_path) as ledger, Reviews(tmp_path) as reviews:
        reviews.append([note("ada", "first")])
        ledger.forget()
        ledger.drop_others(())
        assert len(reviews.notes()) == 1


def test_several_processes_and_threads_lose_nothing(tmp_path):
    program = (
        "import pathlib, sys\n"
        "from harness.grading.reviews import Reviews\n"
        "from tests.grading.test_reviews import note\n"
        "with Reviews(pathlib.Path(sys.argv[1])) as reviews:\n"
        "    for number in range(20):\n"
        "        reviews.append([note('ada', f'{sys.argv[2]} {number}')])\n"
    )
    started = [
        subprocess.Popen([sys.executable, "-c", program, str(tmp_path), name]) for name in "ab"
    ]
    with Reviews(tmp_path) as reviews:
        threads = [
            threading.Thread(
                target=lambda name=name: [
                    reviews.append([note("ada", f"{name} {number}")]) for number in range(20)
                ]
            )
            for name in "cd"
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [process.wait(60) for process in started] == [0, 0]
        written = sorted(one.text for one in reviews.notes())
    assert written == sorted(f"{name} {number}" for name in "abcd" for number in range(20))


def test_a_disk_that_is_full_loses_nothing_that_was_written(tmp_path):
    with Reviews(tmp_path) as reviews:
        reviews.append([note("ada", "first")])
        (pages,) = reviews._database.execute("PRAGMA page_count").fetchone()
        reviews._database.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(SandboxBroken, match=r"database or disk is full.* is kept"):
            reviews.append([note("ada", "long " * 10_000)])
        assert [one.text for one in reviews.notes()] == ["first"]
