import io

import pytest
from rich.console import Console

from harness.commands.console import to_interviewer
from harness.commands.progress import Progress, followed
from harness.grading import Pending
from harness.results import Verdict
from tests.commands.test_console import card


class Clock:
    """Goes on when it is told to."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def plain():
    return Console(file=io.StringIO(), width=20)


@pytest.fixture
def terminal():
    return Console(file=io.StringIO(), force_terminal=True, width=100)


def pending(name):
    return Pending(id=name, key=name, task=b"")


def shown(progress):
    console = Console(file=io.StringIO(), width=100)
    console.print(progress)
    return console.file.getvalue()


def test_a_card_is_one_plain_line_where_there_is_no_terminal(plain):
    cards = [card("ada"), card("a name that is wider than the console" * 3)]
    assert list(followed(iter(cards), Progress(2), plain, to_interviewer)) == cards
    lines = plain.file.getvalue().splitlines()
    assert lines[0] == "passed          ada  good, 3 of 4 points"
    assert len(lines) == 2
    assert "\x1b" not in plain.file.getvalue()


def test_a_terminal_shows_every_card_and_how_many_are_done(terminal):
    cards = [card("ada"), card("grace")]
    assert list(followed(iter(cards), Progress(2), terminal, to_interviewer)) == cards
    text = terminal.file.getvalue()
    assert "ada" in text
    assert "grace" in text
    assert "2 of 2" in text


def test_a_card_is_shown_when_it_is_done_and_not_at_the_end(plain):
    following = followed(iter([card("ada"), card("grace")]), Progress(2), plain, to_interviewer)
    next(following)
    assert "ada" in plain.file.getvalue()
    assert "grace" not in plain.file.getvalue()


def test_what_runs_waits_and_is_left_is_told(clock):
    progress = Progress(10, clock)
    progress.began(pending("ada"))
    clock.now += 2
    progress.ended(pending("ada"), "")
    progress.count(card("ada"))
    progress.began(pending("grace"))
    clock.now += 3
    text = shown(progress)
    assert "1 of 10 done, 1 running, 8 waiting, 0.2 a second, about 45 s left" in text
    assert "grace  3 s" in text
    assert "again" not in text


def test_one_that_is_graded_again_is_told_with_its_try(clock):
    progress = Progress(2, clock)
    progress.began(pending("ada"))
    progress.ended(pending("ada"), "the engine is gone")
    progress.began(pending("ada"))
    text = shown(progress)
    assert "1 graded again" in text
    assert "try 2" in text


def test_hundreds_of_jobs_do_not_fill_the_screen(clock):
    progress = Progress(500, clock)
    for number in range(300):
        progress.began(pending(f"s{number}"))
    assert len(shown(progress).splitlines()) < 20


def test_the_tally_says_what_came_of_all_and_how_long_it_took(clock):
    progress = Progress(3, clock)
    for name in ("ada", "grace"):
        progress.began(pending(name))
        progress.ended(pending(name), "")
        progress.count(card(name))
    progress.count(card("alan"))
    clock.now += 125
    assert progress.tally().startswith(
        f"3 {Verdict.PASSED}; 2 graded in 2 min 05 s (0.0 a second); 1 kept from an earlier run"
    )


def test_nothing_done_is_a_tally_too(clock):
    assert Progress(3, clock).tally() == "nothing graded"
