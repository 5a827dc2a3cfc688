from __future__ import annotations

from tests.attacks.cases import CASES, FOLDER


def test_there_are_as_many_cases_as_there_are_kinds_of_attack() -> None:
    assert len(CASES) >= 150
    assert len({case.kind for case in CASES.values()}) >= 20


def test_every_case_hands_in_an_answer() -> None:
    without = {
        name
        for name, case in CASES.items()
        if not (FOLDER / name / "answer.py").is_file()
        and not any(
            "answer.py" in made
            for made in (
                *(case.files, case.repeats, case.sizes, case.links),
                *(case.hard_links, case.pipes),
            )
        )
    }
    assert not without


def test_every_folder_is_a_case() -> None:
    folders = {path.parent.name for path in FOLDER.glob("*/answer.py")}
    assert folders <= CASES.keys()
