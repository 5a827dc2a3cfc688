import sqlite3
import stat
import subprocess
import sys

import pytest

from harness.errors import SandboxBroken, UsageError
from harness.grading.ledger import FILE, Ledger
from tests.grading.test_batch import card


def test_the_seed_of_a_folder_is_made_once_and_kept(tmp_path):
    with Ledger(tmp_path) as ledger:
        seed = ledger.seed(None)
    with Ledger(tmp_path) as ledger:
        assert ledger.seed(None) == seed
        assert ledger.seed("mine") == "mine"
        assert ledger.seed(None) == "mine"


def test_a_card_is_there_again_under_its_key_and_no_other(tmp_path):
    with Ledger(tmp_path) as ledger:
        ledger.keep("a", card("ada"))
    with Ledger(tmp_path) as ledger:
        assert ledger.card("a") == card("ada")
        assert ledger.card("b") is None


def test_a_card_survives_a_kill_of_the_process_that_wrote_it(tmp_path):
    program = (
        "import os, sys, pathlib, signal\n"
        "from harness.grading.ledger import Ledger\n"
        "from tests.grading.test_batch import card\n"
        "Ledger(pathlib.Path(sys.argv[1])).keep('a', card('ada'))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=False, timeout=60)
    with Ledger(tmp_path) as ledger:
        assert ledger.card("a") == card("ada")


def test_what_is_no_longer_in_the_batch_is_dropped_and_its_page_named(tmp_path):
    with Ledger(tmp_path) as ledger:
        for key, page in {
            "a": "cards/a.html",
            "b": "cards/b.html",
            "old a": "cards/a.html",
        }.items():
            one = card(key)
            ledger.keep(key, type(one)(**fields(one) | {"result": paged(one.result, page)}))
        assert ledger.drop_others({"a"}) == ["cards/b.html"]
        assert ledger.card("b") is None
        assert ledger.card("a") is not None


def fields(struct):
    return {name: getattr(struct, name) for name in struct.__struct_fields__}


def paged(result, page):
    return type(result)(**fields(result) | {"card": page})


def test_a_fresh_start_forgets_cards_and_seed_and_remembers_the_pages(tmp_path):
    with Ledger(tmp_path) as ledger:
        ledger.seed("old")
        one = card("ada")
        ledger.keep("a", type(one)(**fields(one) | {"result": paged(one.result, "cards/a.html")}))
        ledger.forget()
        assert ledger.card("a") is None
        assert ledger.seed(None) != "old"
        assert ledger.drop_others(()) == ["cards/a.html"]


def test_only_the_owner_reads_the_ledger(tmp_path):
    with Ledger(tmp_path) as ledger:
        ledger.seed(None)
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert FILE in modes
    assert set(modes.values()) == {0o600}


def test_a_second_run_is_told_who_holds_the_folder(tmp_path):
    with Ledger(tmp_path), pytest.raises(UsageError, match=r"is held by process \d+, which began"):
        Ledger(tmp_path)
    Ledger(tmp_path).close()


def test_the_ledger_of_a_newer_version_is_left_alone(tmp_path):
    Ledger(tmp_path).close()
    with sqlite3.connect(tmp_path / FILE) as database:
        database.execute("PRAGMA user_version = 99")
    with pytest.raises(UsageError, match="has version 99, expected at most"):
        Ledger(tmp_path)


def test_a_file_that_is_no_ledger_is_an_error_that_says_what_to_do(tmp_path):
    (tmp_path / FILE).write_text("hello " * 1000)
    with pytest.raises(UsageError, match="move it away"):
        Ledger(tmp_path)


def test_a_disk_that_is_full_is_our_fault_and_what_is_written_stays(tmp_path):
    with Ledger(tmp_path) as ledger:
        ledger.keep("a", card("ada"))
        (pages,) = ledger._database.execute("PRAGMA page_count").fetchone()
        ledger._database.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(SandboxBroken, match=r"database or disk is full.* run the same command"):
            for number in range(1000):
                ledger.keep(f"more {number}", card("grace" * 100))
    with Ledger(tmp_path) as ledger:
        assert ledger.card("a") == card("ada")
