"""Every command that the pages name is one that can be given."""

import re
import shlex
from pathlib import Path

import pytest
from typer.main import get_command

from harness import cli
from harness.cli.program import app

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md")), ROOT / "specs" / "README.md"]

#: The pages that are written for one kind of reader each.
READERS = ("interviewer", "candidate", "ci", "own-spec", "operator")


def commands():
    """Yield the commands of the pages: lines of code, and code within a line."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        lines = re.findall(r"^ {4}(takehome .*)$", text, re.MULTILINE)
        spans = re.findall(r"`(takehome [^`]+)`", text)
        for command in dict.fromkeys([*lines, *spans]):
            yield pytest.param(command.partition(" #")[0].strip(), id=f"{page.name}: {command}")


def parse(arguments):
    """Let the command line read arguments as far as it does before it runs a command."""
    command, rest = get_command(app), list(arguments)
    while rest and rest[0] in getattr(command, "commands", {}):
        command = command.commands[rest.pop(0)]
    assert len(rest) < len(arguments) or arguments[0].startswith("-"), f"{arguments[0]}?"
    command.make_context(command.name, rest)


@pytest.mark.parametrize("command", list(commands()))
def test_every_command_of_the_pages_is_understood(command):
    if "…" in command or "[" in command or "|" in command:
        pytest.skip("it stands for several")
    words = shlex.split(command)[1:]
    try:
        parse(words)
    except Exception as error:  # of typer's own copy of click, which has no public name
        told = error.format_message() if hasattr(error, "format_message") else repr(error)
        # A command that a sentence names is no call of it: its arguments are missing.
        assert "Missing" in told and len(words) <= 2, told


@pytest.mark.parametrize("wrong", ["grade --nosuch", "nosuch", "explain", "check a.py b.py"])
def test_a_command_that_cannot_be_given_is_seen(wrong):
    with pytest.raises(Exception, match=r"nosuch|Missing|b\.py"):
        parse(wrong.split())


@pytest.mark.parametrize(
    "command", ["specs", "brief numpy_attention", "explain scale", "explain no-scale"]
)
def test_what_the_pages_ask_to_print_is_printed(command, capsys):
    with pytest.raises(SystemExit) as left:
        cli.main(command.split())
    assert left.value.code == 0
    assert len(capsys.readouterr().out) > 200


def test_links_of_the_pages_lead_somewhere():
    readers = [ROOT / "docs" / f"{name}.md" for name in READERS]
    for page in [ROOT / "README.md", *readers, *ROOT.glob("docs/checks/*.md")]:
        for target in re.findall(r"\]\(([\w./-]+\.\w+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
