import pytest

from harness.errors import Refused
from harness.grading.task import Task, card_key
from harness.intake.deliveries import collect
from harness.parsing.client import Parser


@pytest.fixture(scope="module")
def parser():
    with Parser() as parser:
        yield parser


def read(path, parser):
    (delivery,) = collect([path], single=True).deliveries
    return Task.read(delivery, parser)


def test_a_task_is_the_same_after_it_was_bytes(tmp_path, parser):
    (tmp_path / "ada.py").write_text("x = 1\n")
    task = read(tmp_path / "ada.py", parser)
    assert Task.decode(task.encode()) == task
    assert task.load(parser).text == "x = 1\n"


def test_what_intake_refuses_is_refused_wherever_it_is_loaded(tmp_path, parser):
    (tmp_path / "ada.py").write_bytes(b"\0")
    task = Task.decode(read(tmp_path / "ada.py", parser).encode())
    with pytest.raises(Refused, match="NUL"):
        task.load(parser)


def test_a_key_changes_with_the_submission_and_with_what_it_is_graded_by(tmp_path, parser):
    keys = []
    for text in ("x = 1\n", "x = 1\n", "x = 2\n"):
        (tmp_path / "ada.py").write_text(text)
        keys.append(card_key(b"basis", read(tmp_path / "ada.py", parser).encode()))
    keys.append(card_key(b"another", read(tmp_path / "ada.py", parser).encode()))
    assert keys[0] == keys[1]
    assert len(set(keys)) == 3
    assert card_key(b"a", b"bc") != card_key(b"ab", b"c")
