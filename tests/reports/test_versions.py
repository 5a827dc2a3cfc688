from __future__ import annotations

import shutil
from pathlib import Path

import msgspec

from harness.commands.grade import render_again
from harness.results import SCHEMA, SubmissionResult
from reports import load, load_cards
from tests.reports import samples

#: A batch of three submissions, as version 1 has written it.
VERSION_1 = Path(__file__).with_name("version_1")


def as_version_1(result: SubmissionResult) -> SubmissionResult:
    """Return a result without what version 1 did not have: each bug of a diagnosis by itself."""
    found = tuple(msgspec.structs.replace(one, parts=()) for one in result.diagnosis)
    return msgspec.structs.replace(result, diagnosis=found)


def test_a_batch_of_version_1_is_read_as_one_of_version_2() -> None:
    cards = (samples.right(), samples.composite(), samples.ungradeable())
    batch = samples.batch(cards)
    was = tuple(map(as_version_1, batch.submissions))
    assert load(VERSION_1) == msgspec.structs.replace(batch, submissions=was)


def test_a_card_of_version_1_is_read_as_one_of_version_2() -> None:
    assert list(load_cards(load(VERSION_1), VERSION_1)) == [samples.ungradeable()]


def test_the_reports_of_version_1_are_rendered_again_and_are_then_of_version_2(
    tmp_path: Path,
) -> None:
    folder = shutil.copytree(VERSION_1, tmp_path / "results")
    render_again(folder, lambda line: None, for_candidates=False)
    written = msgspec.json.decode((folder / "results.json").read_bytes())
    assert written["schema"] == SCHEMA
    assert (folder / "index.html").exists()
