"""The corpus' cards in every form, and in a browser: nothing runs, nothing is asked for."""

from __future__ import annotations

import csv
import io
import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import docker
import pytest
from playwright.sync_api import Browser

from harness.candidate_view import for_candidate
from harness.results import BatchResults, Card
from reports import PlacedCard, write, write_candidate, write_placed
from tests.attacks.cases import CASES
from tests.attacks.grading import AttackedHost, own_temporary_folder

pytestmark = [pytest.mark.docker, pytest.mark.browser]

#: What a terminal would obey, and what a reader cannot see.
UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]")

NUMPY = [name for name, case in CASES.items() if case.image == "numpy"]
REPORT = [name for name in NUMPY if CASES[name].kind == "report"]


@pytest.mark.parametrize(
    "names", [REPORT, pytest.param(NUMPY, marks=pytest.mark.slow)], ids=["reports", "all"]
)
def test_no_report_of_the_corpus_runs_or_sends_anything(
    client: docker.DockerClient, browser: Browser, tmp_path: Path, names: list[str]
) -> None:
    cards = graded(client, tmp_path, names)
    out = tmp_path / "out"
    write(batch(cards), cards, out)
    for card in cards:
        write_candidate(card, out)
    placed = [PlacedCard(card=for_candidate(card), path=card.result.id) for card in cards]
    write_placed(placed, out / "placed")
    assert len(list(out.rglob("*.html"))) >= 2 * len(cards) + 1
    assert noticed(browser, sorted(out.rglob("*.html"))) == []
    for path in (*out.rglob("*.xml"), *out.rglob("*.md"), *out.rglob("*.txt")):
        assert not UNSEEN.search(path.read_text(encoding="utf-8")), path
    for path in out.rglob("*.xml"):
        cases = ElementTree.parse(path).iter("testcase")
        assert not [case for case in cases if case.get("name") == "forged"]
    rows = csv.reader(io.StringIO((out / "results.csv").read_text(), newline=""), strict=True)
    assert not [cell for row in rows for cell in row if cell[:1] in tuple("=+-@\t\r")]
    json.loads((out / "placed" / "results.sarif").read_text(encoding="utf-8"))
    said = (out / "placed" / "annotations.txt").read_text(encoding="utf-8")
    assert all(re.match("::(error|warning) file=", line) for line in said.splitlines())
    for path in out.rglob("*.md"):
        lines = path.read_text(encoding="utf-8").splitlines()
        assert not [line for line in lines if line.lstrip().startswith(("::", "##["))]


def graded(client: docker.DockerClient, folder: Path, names: list[str]) -> list[Card]:
    (folder / "root").mkdir()
    (folder / "temporary").mkdir()
    host = AttackedHost(client, folder / "root", reuse=True, image="numpy")
    with own_temporary_folder(folder / "temporary"):
        try:
            return [host.grade_case(name).card for name in names]
        finally:
            host.close()


def batch(cards: list[Card]) -> BatchResults:
    return BatchResults(
        specs=("toy",),
        title="Attacks",
        seed="1",
        environment=cards[0].environment,
        submissions=tuple(card.result for card in cards),
        ignored=(),
    )


def noticed(browser: Browser, paths: list[Path]) -> list[str]:
    """Return what the pages said, asked for or ran that is not our own."""
    page, seen = browser.new_page(), []
    page.on("console", lambda message: seen.append(message.text))
    page.on("pageerror", lambda error: seen.append(str(error)))
    page.on("dialog", lambda dialog: (seen.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: seen.append(request.url))
    for path in paths:
        page.goto(path.as_uri())
        scripts = page.evaluate("document.scripts.length")
        # A batch has its data, and what sorts and filters it.
        if scripts != (2 if path.name == "index.html" else 0):
            seen.append(f"{path.name}: {scripts} scripts")
    page.close()
    return [each for each in seen if each not in {"data:,", *(path.as_uri() for path in paths)}]
