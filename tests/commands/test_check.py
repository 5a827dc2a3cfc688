import itertools

import pytest

import specs
from harness.commands.check import changes, check_file
from harness.errors import UsageError
from harness.results import Level, Outcome, Verdict
from tests import toy


def test_a_file_is_checked_in_a_process_of_its_own(tmp_path):
    file = tmp_path / "answer.py"
    file.write_text(toy.RIGHT)
    card = check_file(file, toy.SPEC)
    assert card.result.verdict is Verdict.PASSED
    assert card.result.level is Level.EXCELLENT
    assert card.environment.isolated is False


def test_a_folder_is_one_submission(tmp_path):
    (tmp_path / "answer.py").write_text(
        "from parts import double\n\ndef total(x): return x.sum()\n"
    )
    (tmp_path / "parts.py").write_text("def double(x): return 2 * x\n")
    assert check_file(tmp_path, toy.SPEC).result.verdict is Verdict.PASSED


def test_inputs_are_drawn_afresh_each_time(tmp_path):
    file = tmp_path / "answer.py"
    file.write_text("def double(x):\n    raise ValueError(float(x[0]))\n")
    messages = {check_file(file, toy.SPEC).result.checks[0].message for _ in range(2)}
    assert len(messages) == 2


def test_a_file_that_ends_its_process_fails_and_leaves_ours_alone(tmp_path):
    file = tmp_path / "answer.py"
    file.write_text(
        "import os\n\ndef double(x):\n    os._exit(0)\n\ndef total(x): return x.sum()\n"
    )
    result = check_file(file, toy.SPEC).result
    crashed, *others, passed = result.checks
    assert (crashed.outcome, passed.outcome) == (Outcome.CRASHED, Outcome.PASSED)
    assert {check.outcome for check in others} == {Outcome.NOT_RUN}


@pytest.mark.parametrize("name", ["absent.py", "notes.txt"])
def test_a_file_that_is_none_is_an_error_of_the_user(tmp_path, name):
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(UsageError):
        check_file(tmp_path / name, toy.SPEC)


def test_the_starter_of_every_assignment_of_functions_fails_without_a_traceback(tmp_path):
    for name in ("numpy_attention", "positional_encoding"):
        spec = specs.load(name)
        file = tmp_path / f"{name}.py"
        file.write_text(spec.starter)
        result = check_file(file, spec).result
        assert result.verdict in (Verdict.FAILED, Verdict.UNGRADEABLE)
        assert result.earned in (0, None)


class Editor:
    """Does something to a file each time that somebody sleeps."""

    def __init__(self, *edits):
        self._edits = iter(edits)

    def __call__(self, seconds):
        next(self._edits)()


def test_a_file_is_checked_at_once_and_whenever_it_changes(tmp_path):
    file = tmp_path / "answer.py"
    file.write_text("1")
    edits = Editor(
        lambda: None,
        lambda: file.write_text("12"),
        lambda: None,
        lambda: file.write_text("123"),
    )
    assert len(list(itertools.islice(changes(file, sleep=edits), 3))) == 3


def test_a_file_that_is_away_while_it_is_saved_is_waited_for(tmp_path):
    file = tmp_path / "answer.py"
    file.write_text("1")
    edits = Editor(file.unlink, lambda: None, lambda: file.write_text("12"))
    assert len(list(itertools.islice(changes(file, sleep=edits), 2))) == 2


def test_a_file_that_never_was_is_an_error_of_the_user(tmp_path):
    with pytest.raises(UsageError, match=r"absent.py is missing, expected a file"):
        next(changes(tmp_path / "absent.py"))
