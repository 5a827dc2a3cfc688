"""Nothing of a batch that was graded under aliases tells whose an answer is."""

from __future__ import annotations

import csv
import zipfile
from pathlib import Path

import pytest

from harness.cli.program import main
from harness.commands.anonymity import NAMES_FILE, read_names
from harness.commands.erasure import forget

WRONG = """\
# Author: Grace Brewster Hopper (hopper@navy.example)
import numpy as np

def attention(Q, K, V, mask=None):
    # lovelace was here, and so was 王小明
    raise ValueError("Lovelace, A. has not finished")
"""
SECRETS = ("lovelace", "hopper", "brewster", "navy", "王小明", "a1815")


@pytest.fixture
def out(tmp_path: Path) -> Path:
    folder = tmp_path / "answers"
    folder.mkdir()
    (folder / "ada_lovelace_attention.py").write_text(WRONG, encoding="utf-8")
    (folder / "王小明.py").write_text(WRONG.replace("lovelace", "x"), encoding="utf-8")
    with zipfile.ZipFile(folder / "Hopper final.zip", "w") as archive:
        archive.writestr("hopper/attention.py", WRONG)
    (folder / "lovelace.txt").write_text("ignored", encoding="utf-8")
    roster = tmp_path / "roster.csv"
    roster.write_text("name,file,login\nLovelace Ada,ada_*,a1815\n王小明,王*,\n", encoding="utf-8")
    out = tmp_path / "out"
    options = ["--spec", "numpy_attention", "--sandbox", "process", "--anonymise"]
    options += ["--roster", str(roster), "--format", "csv", "--out", str(out)]
    with pytest.raises(SystemExit):
        main(["grade", str(folder), *options])
    return out


def test_no_file_but_that_of_the_names_tells_whose_an_answer_is(
    out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written = [path for path in out.rglob("*") if path.is_file()]
    pages = [path for path in written if path.name != NAMES_FILE and "ledger" not in path.name]
    assert any(path.suffix == ".html" for path in pages)
    for path in pages:
        text = (path.read_text(encoding="utf-8") + str(path.relative_to(out))).lower()
        assert [secret for secret in SECRETS if secret in text] == [], path


def test_the_names_are_in_one_file_that_only_its_owner_reads(out: Path) -> None:
    file = out / NAMES_FILE
    assert file.stat().st_mode & 0o077 == 0
    rows = list(csv.DictReader(file.read_text(encoding="utf-8").splitlines()))
    assert {row["id"] for row in rows} == {"ada_lovelace_attention", "王小明", "Hopper final"}
    assert all((out / "cards").glob(f"{row['alias']}-*.html") for row in rows)


def test_a_person_who_is_forgotten_is_in_the_file_of_names_no_more(out: Path) -> None:
    (first, *others) = read_names(out)
    forget(out, first, say=lambda line: None)
    assert list(read_names(out)) == others
