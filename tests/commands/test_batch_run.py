"""A run over a batch: repairs and own tests come after every verdict, and only if asked for."""

import dataclasses
import json
from pathlib import Path

import pytest

from harness.commands.batch_run import Repairs
from harness.commands.grade import Request, grade_batch
from harness.errors import UsageError
from tests import samples


@dataclasses.dataclass
class Said:
    """What a run printed."""

    lines: list[str] = dataclasses.field(default_factory=list)

    def __call__(self, line: str) -> None:
        self.lines.append(line)

    def about_repairs(self) -> list[str]:
        return [line for line in self.lines if "repairs" in line]


@pytest.fixture
def inbox(tmp_path: Path) -> Path:
    folder = tmp_path / "in"
    folder.mkdir()
    for name in ("wrong_scale-by-d", "wrong_calls-a-library", "right_minimal_matmul"):
        path = samples.path_of("numpy_attention", name)
        (folder / path.name).write_bytes(path.read_bytes())
    return folder


def grade(inbox, repairs, say=lambda line: None, **changes):
    out = inbox.parent / "out"
    request = Request(
        paths=(inbox,), spec="numpy_attention", out=out, jobs=1, sandbox="process", reuse=True,
        runtime=None, seed="7", fresh=False, single=False, adapt=False, for_candidates=False,
        repairs=repairs,
    )  # fmt: skip
    results = grade_batch(dataclasses.replace(request, **changes), say)
    cards = {}
    for path in sorted((out / "cards").glob("*.json")):
        card = json.loads(path.read_text(encoding="utf-8"))
        cards[card["result"]["id"]] = card
    return results, cards


def repaired(cards):
    return [name for name, card in cards.items() if card.get("repair")]


def test_what_has_a_name_is_repaired_and_no_result_changes(inbox):
    without, _ = grade(inbox, Repairs.NONE)
    said = Said()
    results, cards = grade(inbox, Repairs.EXPLAINED, said)
    assert results == without
    assert repaired(cards) == ["wrong_scale-by-d"]
    assert said.about_repairs()[0] == "looking for repairs of 1; --no-repairs leaves them out"
    assert said.about_repairs()[1].startswith("repairs: 1 found for 1 in ")
    page = (inbox.parent / "out" / results[-1].card).read_text(encoding="utf-8")
    assert "A repair that works" in page


def test_what_was_looked_for_once_is_not_looked_for_again(inbox):
    grade(inbox, Repairs.EXPLAINED)
    said = Said()
    _, cards = grade(inbox, Repairs.EXPLAINED, said)
    assert repaired(cards) == ["wrong_scale-by-d"]
    assert said.about_repairs() == []


def test_a_search_that_finds_nothing_is_said_on_the_card(inbox):
    results, cards = grade(inbox, Repairs.ALL)
    searched = cards["wrong_calls-a-library"]["search"]["versions"]
    (page,) = (r.card for r in results if r.id == "wrong_calls-a-library")
    text = (inbox.parent / "out" / page).read_text(encoding="utf-8")
    assert f"No repair found among {searched} edited versions." in text


def test_no_repair_is_looked_for_where_cards_are_for_candidates(inbox):
    said = Said()
    grade(inbox, Repairs.ALL, said, for_candidates=True)
    assert said.about_repairs() == []


@pytest.mark.docker
def test_own_tests_run_once_where_they_are_handed_in_and_change_no_result(inbox):
    folder = inbox / "with_tests"
    folder.mkdir()
    (inbox / "right_minimal_matmul.py").rename(folder / "solution.py")
    (inbox / "wrong_calls-a-library.py").unlink()
    tests = "from solution import causal_mask\ndef test_it(): assert causal_mask(2)[1, 0]\n"
    (folder / "test_solution.py").write_text(tests, encoding="utf-8")
    without, _ = grade(inbox, Repairs.NONE, sandbox="container")
    said = Said()
    results, cards = grade(inbox, Repairs.NONE, said, sandbox="container", own_tests=True)
    assert results == without
    assert "running the own tests of 1" in said.lines
    told = cards["with_tests"]["own_tests"]
    assert [bug["id"] for bug in told["found"]] == ["causal-triu", "causal-swapped"]
    assert cards["wrong_scale-by-d"].get("own_tests") is None
    (page,) = (r.card for r in results if r.id == "with_tests")
    text = (inbox.parent / "out" / page).read_text(encoding="utf-8")
    assert "The tests find 2 of 40 known bugs." in text
    again = Said()
    grade(inbox, Repairs.NONE, again, sandbox="container", own_tests=True)
    assert not [line for line in again.lines if "own tests" in line]


@pytest.mark.parametrize("changes", [{"spec": "kv_cache"}, {"sandbox": "process"}], ids=str)
def test_own_tests_are_refused_where_they_cannot_run(inbox, changes):
    with pytest.raises(UsageError, match=r"--own-tests .*; leave it out"):
        grade(inbox, Repairs.NONE, own_tests=True, **{"sandbox": "container", **changes})
