import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.errors import Refused, SandboxBroken
from harness.parsing import client
from harness.parsing.client import Parser

#: 120 KB of this take ``ast.parse`` of Python 3.11 seconds, and 240 KB half a minute.
QUADRATIC = f"f'{'{1}' * 80_000}'"
linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into Linux's /proc")


@pytest.fixture
def parser() -> Iterator[Parser]:
    with Parser() as one:
        yield one


def child_of(parser: Parser) -> int:
    assert parser._child is not None
    return parser._child.pid


def test_no_child_is_started_before_it_is_needed(parser: Parser) -> None:
    assert parser._child is None
    parser.outline("x = 1")
    assert parser._child is not None


def test_one_child_serves_many_requests(parser: Parser) -> None:
    parser.outline("x = 1")
    first = child_of(parser)
    for _ in range(20):
        assert parser.highlight("x = 1") is not None
    assert child_of(parser) == first


def test_a_request_past_its_deadline_is_given_up_and_the_next_one_is_answered() -> None:
    with Parser(seconds=0.3) as parser:
        parser.outline("x = 1")
        first = child_of(parser)
        assert parser.outline(QUADRATIC) is None
        assert parser.outline("def f(): ...") is not None
        assert child_of(parser) != first


def test_a_refusal_says_that_the_deadline_passed() -> None:
    notebook = (
        '{"nbformat":4,"nbformat_minor":5,"metadata":{},"cells":[{"cell_type":"code","id":"a",'
    )
    notebook += f'"metadata":{{}},"outputs":[],"execution_count":null,"source":"{QUADRATIC}"}}]}}'
    with Parser(seconds=0.5) as parser, pytest.raises(Refused, match=r"longer than 0\.5 s"):
        parser.notebook(notebook)


@pytest.mark.parametrize(
    "text",
    ["(" * 100_000, "-" * 100_000 + "1", "x" + "[0]" * 50_000, "if 1:" * 50_000, "\0", "\ud800"],
    ids=["brackets", "signs", "subscripts", "blocks", "nul", "surrogate"],
)
def test_text_that_breaks_parsers_costs_at_most_the_child(parser: Parser, text: str) -> None:
    parser.outline(text)
    parser.highlight(text)
    assert parser.outline("def f(): ...") is not None


@linux
def test_a_child_that_was_killed_is_replaced(parser: Parser) -> None:
    parser.outline("x = 1")
    os.kill(child_of(parser), signal.SIGKILL)
    os.waitid(os.P_PID, child_of(parser), os.WEXITED | os.WNOWAIT)
    assert parser.outline("def f(): ...") is not None


@linux
def test_the_child_has_limits_and_nothing_of_our_environment(
    parser: Parser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CANARY", "secret")
    parser.outline("x = 1")
    process = Path(f"/proc/{child_of(parser)}")
    limits = {
        line[:26].strip(): line[26:].split()[0]
        for line in (process / "limits").read_text().splitlines()
    }
    assert limits["Max address space"] == str(1 << 30)
    assert limits["Max file size"] == limits["Max core file size"] == "0"
    assert int(limits["Max cpu time"]) <= 10
    assert b"CANARY" not in (process / "environ").read_bytes()


@linux
def test_the_child_ends_with_the_harness() -> None:
    started = subprocess.run(
        [
            sys.executable,
            "-c",
            "import os; from harness.parsing import Parser; p = Parser(); p.outline('');"
            "print(p._child.pid, flush=True); os.kill(os.getpid(), 9)",
        ],
        check=False,
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert started.returncode == -signal.SIGKILL
    assert ended(int(started.stdout))


def ended(pid: int) -> bool:
    """Wait until a process that is not our child has ended."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    import select

    return bool(select.select([descriptor], [], [], 10)[0])


def test_closing_ends_the_child_and_may_be_repeated(parser: Parser) -> None:
    parser.outline("x = 1")
    child = parser._child
    assert child is not None
    parser.close()
    parser.close()
    assert child.returncode is not None


def test_threads_share_one_child_and_get_their_own_answers(parser: Parser) -> None:
    found: dict[int, str | None] = {}

    def ask(number: int) -> None:
        found[number] = parser.highlight(f"x = {number}")

    threads = [threading.Thread(target=ask, args=[number]) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 16
    for number, html in found.items():
        assert html is not None
        assert f">{number}<" in html


@linux
def test_a_parser_that_cannot_start_is_our_fault(
    parser: Parser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    with pytest.raises(SandboxBroken, match="the parser did not start"):
        parser.notebook("{}")
    assert parser.highlight("x = 1") is None


def test_highlighted_source_is_escaped_and_has_only_spans(parser: Parser) -> None:
    html = parser.highlight("x = '<script>alert(1)</script>' & \"\n")
    assert html is not None
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert html.count("\n") == 1


def test_source_that_becomes_too_much_html_is_shown_plain(parser: Parser) -> None:
    assert parser.highlight("1+" * 100_000 + "1") is None


@pytest.mark.parametrize(
    "line",
    [
        "<script>x</script>",
        '<span class="k" onclick="x">x</span>',
        '<span class="k">open',
        "a & b",
        "a\nb",
        '<span class="k"><img></span>',
    ],
)
def test_an_answer_with_other_html_is_not_believed(
    parser: Parser, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.setattr(
        client, "_transfer", lambda *_: client.msgspec.json.encode({"lines": [line]}) + b"\n"
    )
    assert parser.highlight("x") is None


@pytest.mark.parametrize("answer", [b"\n", b"[]\n", b'{"lines": 1}\n', b"\xff\n", b"{}\n"])
def test_an_answer_of_another_form_is_not_believed(
    parser: Parser, monkeypatch: pytest.MonkeyPatch, answer: bytes
) -> None:
    monkeypatch.setattr(client, "_transfer", lambda *_: answer)
    assert parser.highlight("x") is None
    with pytest.raises(Refused, match="no proper answer"):
        parser.notebook("{}")
