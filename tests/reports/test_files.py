from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from harness.results import Card
from reports import Taken, Unreadable, load, load_cards, write, write_candidate, write_card
from reports.files import save
from tests.reports import samples


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_batch_is_written_whole(site: Path) -> None:
    assert names(site) == {
        "results.json",
        "results.jsonl",
        "results.csv",
        "junit.xml",
        "summary.md",
        "index.html",
        "cards",
    }
    cards = {Path(card.result.card).stem for card in samples.cards()}
    assert names(site / "cards") == {f"{card}.{end}" for card in cards for end in ("html", "json")}


def test_what_was_written_is_read_back_equal(site: Path) -> None:
    results = load(site)
    assert results == samples.batch()
    assert tuple(load_cards(results, site)) == samples.cards()


def test_rendering_again_from_disk_gives_the_same_bytes(site: Path, tmp_path: Path) -> None:
    results = load(site)
    write(results, load_cards(results, site), tmp_path)
    for path in site.rglob("*.*"):
        assert (tmp_path / path.relative_to(site)).read_bytes() == path.read_bytes()


def test_a_card_that_names_a_path_elsewhere_is_not_written(tmp_path: Path) -> None:
    result = msgspec.structs.replace(samples.right().result, card="../outside.html")
    card = msgspec.structs.replace(samples.right(), result=result)
    write(samples.batch((card,)), (card,), tmp_path / "out")
    assert names(tmp_path) == {"out"}
    assert "cards" not in names(tmp_path / "out")


def renamed(identifier: str) -> Card:
    result = msgspec.structs.replace(samples.over_queries().result, id=identifier)
    return msgspec.structs.replace(samples.over_queries(), result=result)


@pytest.mark.parametrize("write_one", [write_card, write_candidate])
def test_a_card_is_never_written_over_anothers(
    write_one: Callable[[Card, Path], None], tmp_path: Path
) -> None:
    write_one(renamed("first"), tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.*")}
    with pytest.raises(Taken, match="is the card of first, expected none or that of second"):
        write_one(renamed("second"), tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.*")} == before


@pytest.mark.parametrize("write_one", [write_card, write_candidate])
def test_a_card_is_written_over_its_own_and_over_a_damaged_one(
    write_one: Callable[[Card, Path], None], tmp_path: Path
) -> None:
    write_one(renamed("first"), tmp_path)
    write_one(renamed("first"), tmp_path)
    (path,) = tmp_path.rglob("*.json")
    path.write_bytes(b"{")
    write_one(renamed("second"), tmp_path)
    assert b'"second"' in path.read_bytes()


def test_a_folder_without_results_is_refused_with_advice(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="give the folder of --out"):
        load(tmp_path)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"schema": "takehome/2"}', b"\xff"])
def test_damaged_results_are_refused_with_advice(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "results.json").write_bytes(content)
    with pytest.raises(Unreadable, match=r"cannot be read .*; grade again"):
        load(tmp_path)


def test_results_of_another_version_are_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "results.json").write_bytes(b'{"schema": "takehome/99", "new": 1}')
    with pytest.raises(Unreadable, match="has schema 'takehome/99', expected 'takehome/2'"):
        load(tmp_path)


def test_a_card_that_is_missing_on_disk_is_left_out(tmp_path: Path) -> None:
    write(samples.batch(), (samples.right(),), tmp_path)
    assert [card.result.id for card in load_cards(load(tmp_path), tmp_path)] == ["ada-lovelace"]


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    page = tmp_path / "index.html"
    save(page, b"old")
    with pytest.raises(TypeError):
        save(page, "not bytes")  # type: ignore[arg-type]
    assert (names(tmp_path), page.read_bytes()) == ({"index.html"}, b"old")


def test_a_kill_in_the_middle_of_a_write_leaves_the_old_file(tmp_path: Path) -> None:
    page = tmp_path / "index.html"
    save(page, b"old")
    program = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from reports.files import save\n"
        "whole = Path.write_bytes\n"
        "def half(path, content):\n"
        "    whole(path, content[: len(content) // 2])\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "Path.write_bytes = half\n"
        "save(Path(sys.argv[1]), b'new' * 1000)\n"
    )
    root = Path(__file__).parents[2]
    ended = subprocess.run([sys.executable, "-c", program, str(page)], cwd=root, check=False)
    assert ended.returncode == -9
    assert page.read_bytes() == b"old"
