"""Exports, and pages to send: in the formats of others, and with nothing that is not theirs."""

from __future__ import annotations

import base64
import csv
import json
import re
from pathlib import Path

import pytest

from harness.cli import Exit
from harness.cli.program import app, run
from reports import load, write
from tests.reports import samples


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    out = tmp_path / "batch"
    write(samples.batch(), samples.cards(), out)
    return out


def call(*arguments: str | Path) -> int:
    return run(lambda: app(args=[*map(str, arguments)], standalone_mode=False))


def test_a_gradescope_result_has_the_published_fields_and_the_score(folder: Path) -> None:
    assert call("report", folder, "--format", "gradescope") == Exit.PASSED
    files = sorted((folder / "exports" / "gradescope").iterdir())
    assert len(files) == 6  # neither what was refused nor what our side broke
    slug = Path(samples.over_queries().result.card).stem
    content = json.loads((folder / "exports" / "gradescope" / f"{slug}.json").read_text())
    assert content["score"] == 22 == sum(test["score"] for test in content["tests"])
    assert content.keys() == {
        "score", "output", "visibility", "stdout_visibility", "extra_data", "tests",
    }  # fmt: skip
    assert {test["status"] for test in content["tests"]} == {"passed", "failed"}


def test_a_classroom_result_is_base64_whose_tests_add_up(folder: Path) -> None:
    assert call("report", folder, "--format", "classroom") == Exit.PASSED
    slug = Path(samples.over_queries().result.card).stem
    content = (folder / "exports" / "classroom" / f"{slug}.b64").read_bytes()
    result = json.loads(base64.b64decode(content))
    assert (result["version"], result["status"], result["max_score"]) == (1, "fail", 41)
    assert sum(test["score"] for test in result["tests"]) == 22


def test_a_canvas_gradebook_finds_students_by_the_roster(folder: Path, tmp_path: Path) -> None:
    roster = tmp_path / "roster.csv"
    roster.write_text("name,file,id,login,section\n=Hopper,grace*,17,ghop,A\n")
    assert call("report", folder, "--format", "canvas", "--roster", roster) == Exit.PASSED
    rows = list(csv.reader((folder / "exports" / "canvas.csv").read_text().splitlines()))
    assert rows[0][:5] == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
    assert ["'=Hopper", "17", "", "ghop", "A", "22"] in rows
    assert len(rows) == 2 + 6


def test_no_export_holds_the_seed_or_what_a_candidate_may_not_know(folder: Path) -> None:
    names = ("gradescope", "classroom", "canvas", "csv", "json", "jsonl")
    assert call("report", folder, *(word for name in names for word in ("--format", name))) == 0
    exported = [path for path in (folder / "exports").rglob("*") if path.is_file()]
    for path in exported:
        content = path.read_bytes()
        text = (base64.b64decode(content) if path.suffix == ".b64" else content).decode()
        assert samples.batch().seed not in text
        if path.parent.name in ("gradescope", "classroom"):
            assert "Each column of your weights" not in text
            assert "expected 0.1" not in text
    assert (folder / "exports" / "results.jsonl").read_text().count("\n") == 8


def test_a_format_that_is_not_known_is_refused_before_anything_is_done(folder: Path) -> None:
    assert call("report", folder, "--format", "gradscope") == Exit.USAGE
    assert not (folder / "exports").exists()


def test_pages_to_send_have_names_that_nobody_can_guess_and_no_index(
    folder: Path, tmp_path: Path
) -> None:
    out = tmp_path / "send"
    assert call("report", folder, "--audience", "candidate", "--out", out) == Exit.PASSED
    names = {path.name for path in out.iterdir()}
    assert len(names) == len(samples.cards())
    assert all(re.fullmatch(r"[0-9a-f]{32}\.html", name) for name in names)
    for path in out.iterdir():
        text = path.read_text()
        assert load(folder).seed not in text
        assert "Each column of your weights" not in text
        others = {"ada-lovelace", "grace-hopper", "linus-t"}
        assert sum(name in text for name in others) <= 1
    listed = (folder / "handed-out.csv").read_text()
    assert all(name in listed for name in names)
    assert call("report", folder, "--audience", "candidate", "--out", out) == Exit.PASSED
    assert {path.name for path in out.iterdir()} == names


def test_a_dry_run_says_what_takehome_toml_settles_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "takehome.toml").write_text('spec = "numpy_attention"\nconventions = "adapt"\n')
    people = tmp_path / "people"
    people.mkdir()
    (people / "ada.py").write_text("def attention(q, k, v, mask=None): ...\n")
    assert call("grade", people, "--out", tmp_path / "out", "--dry-run") == Exit.PASSED
    said = capsys.readouterr().out
    assert "spec: numpy_attention" in said
    assert "conventions: adapt" in said
    assert "would grade: ada" in said
    assert not (tmp_path / "out").exists()
    (tmp_path / "takehome.toml").unlink()
    assert call("grade", people, "--out", tmp_path / "out") == Exit.USAGE
