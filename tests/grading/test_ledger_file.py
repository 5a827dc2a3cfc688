import sqlite3
import stat

import pytest

from harness.errors import UsageError
from harness.grading import ledger_file
from harness.grading.ledger import Ledger
from harness.grading.ledger_file import FILE, VERSION, open_ledger
from harness.grading.reviews import Reviews
from tests.grading.test_batch import card
from tests.grading.test_reviews import note

#: What version 1 wrote.
VERSION_1 = """
PRAGMA journal_mode = WAL;
CREATE TABLE batch (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE cards (key TEXT PRIMARY KEY, page TEXT NOT NULL, card BLOB NOT NULL) STRICT;
INSERT INTO batch VALUES ('seed', 'old seed');
PRAGMA user_version = 1;
"""


@pytest.fixture
def old(tmp_path):
    database = sqlite3.connect(tmp_path / FILE)
    database.executescript(VERSION_1)
    database.close()
    return tmp_path


def version(folder):
    database = sqlite3.connect(folder / FILE)
    (number,) = database.execute("PRAGMA user_version").fetchone()
    database.close()
    return number


def test_an_older_ledger_keeps_what_it_holds_and_gains_what_it_lacks(old):
    with Ledger(old) as ledger, Reviews(old) as reviews:
        assert ledger.seed(None) == "old seed"
        reviews.append([note("ada", "clear")])
        assert [one.text for one in reviews.notes()] == ["clear"]
    assert version(old) == VERSION
    assert {stat.S_IMODE(path.stat().st_mode) for path in old.glob(f"{FILE}*")} == {0o600}


def test_an_older_ledger_that_somebody_has_open_is_left_alone(old, monkeypatch):
    monkeypatch.setattr(ledger_file, "_BUSY_SECONDS", 0.1)
    held = sqlite3.connect(old / FILE)
    held.execute("SELECT * FROM batch").fetchall()
    with pytest.raises(UsageError, match="cannot be used as a ledger"):
        open_ledger(old / FILE)
    held.close()
    assert version(old) == 1
    assert not list(old.glob("*.new"))


def test_an_older_ledger_survives_a_failure_on_the_way(old, monkeypatch):
    steps = (*ledger_file._STEPS[:1], "CREATE TABLE cards (key TEXT);\n")
    monkeypatch.setattr(ledger_file, "_STEPS", steps)
    with pytest.raises(UsageError, match="already exists"):
        open_ledger(old / FILE)
    monkeypatch.undo()
    with Ledger(old) as ledger:
        assert ledger.seed(None) == "old seed"


def test_a_newer_ledger_is_not_touched(tmp_path):
    with sqlite3.connect(tmp_path / FILE) as database:
        database.execute(f"PRAGMA user_version = {VERSION + 1}")
    before = (tmp_path / FILE).read_bytes()
    with pytest.raises(UsageError, match=f"has version {VERSION + 1}, expected at most {VERSION}"):
        open_ledger(tmp_path / FILE)
    assert (tmp_path / FILE).read_bytes() == before


@pytest.mark.parametrize(
    ("kind", "mode"), [("nfs4", "delete"), ("cifs", "delete"), ("ext4", "wal")]
)
def test_a_file_system_of_another_machine_gets_no_wal(tmp_path, monkeypatch, kind, mode):
    monkeypatch.setattr(ledger_file, "_file_system", lambda path: kind)
    database = open_ledger(tmp_path / FILE)
    assert database.execute("PRAGMA journal_mode").fetchone() == (mode,)
    database.close()


def test_the_file_system_of_a_path_is_that_of_its_innermost_mount(monkeypatch, tmp_path):
    mounts = tmp_path / "mountinfo"
    mounts.write_text(
        "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n"
        "2 1 0:5 / /mnt/our\\040share rw shared:1 - nfs4 server:/ rw\n"
    )
    monkeypatch.setattr(ledger_file, "Path", lambda name: mounts if "proc" in name else real(name))
    real = type(mounts)
    assert ledger_file._file_system(real("/mnt/our share/out")) == "nfs4"
    assert ledger_file._file_system(real("/mnt/ours")) == "ext4"


def test_without_a_wal_cards_and_entries_are_kept_as_with_one(tmp_path):
    with (
        Ledger(tmp_path, journal="delete") as ledger,
        Reviews(tmp_path, journal="delete") as reviews,
    ):
        ledger.keep("a", card("ada"))
        reviews.append([note("ada", "clear")])
        assert not list(tmp_path.glob("*-wal"))
        assert ledger.card("a") == card("ada")
        assert [one.text for one in reviews.notes()] == ["clear"]
