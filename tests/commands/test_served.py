"""The served review over real HTTP: what it shows, what it keeps, and whom it refuses."""

from __future__ import annotations

import contextlib
import datetime
import http.client
import re
import socket
import threading
import urllib.parse
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest
import uvicorn

from harness.commands.decisions_file import decisions_toml, import_decisions
from harness.commands.served import Guard, make_app
from harness.commands.served.batch import ServedBatch
from harness.errors import UsageError
from harness.grading import Reviews
from harness.language import ENGLISH, Language
from harness.results import Card, KeyPoint, Level, Question, RedFlag, Verdict
from harness.reviews import Choice, Decision, Note
from reports import write
from tests.reports import samples

FAILED = f"/{samples.over_queries().result.card}"


def now() -> datetime.datetime:
    return datetime.datetime(2026, 12, 1, 10, tzinfo=datetime.UTC)


class Client:
    """A browser as far as headers go: a cookie, and the origin of our own pages."""

    def __init__(self, port: int, guard: Guard) -> None:
        self.port = port
        self.guard = guard
        self.cookie = ""
        self.location = ""  #: where the last answer sent the browser

    def ask(
        self, path: str, fields: dict[str, str] | None = None, **headers: str
    ) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        sent = {"Cookie": self.cookie} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        body = None
        if fields is not None:
            body = urllib.parse.urlencode({"form": self.guard.form, **fields})
            sent = {"Origin": f"http://127.0.0.1:{self.port}"} | sent
        connection.request("GET" if body is None else "POST", path, body, sent)
        response = connection.getresponse()
        if given := response.getheader("Set-Cookie"):
            self.cookie = given.split(";")[0]
            assert "HttpOnly" in given
            assert "samesite=strict" in given.lower()
        self.location = response.getheader("Location") or ""
        text = response.read().decode()
        connection.close()
        return response.status, text


@contextlib.contextmanager
def served(folder: Path, language: Language = ENGLISH, reviewer: str = "Ada") -> Iterator[Client]:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    port = listener.getsockname()[1]
    guard = Guard((f"http://127.0.0.1:{port}",))
    batch = ServedBatch(folder, reviewer, now, language)
    config = uvicorn.Config(make_app(batch, guard), log_level="error")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    try:
        yield Client(port, guard)
    finally:
        server.should_exit = True
        thread.join()
        batch.reviews.close()


def entered(client: Client) -> Client:
    assert client.ask(client.guard.first_path())[0] == 303
    return client


def went(client: Client, path: str, **fields: str) -> str:
    client.ask(path, fields)
    return client.location


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    cards = (samples.right(), samples.over_queries())
    write(samples.batch(cards), cards, tmp_path)
    return tmp_path


def test_a_decision_and_a_note_are_kept_and_stand_beside_the_verdict(folder: Path) -> None:
    with served(folder) as client:
        entered(client)
        fields = {"choice": "advance", "verdict": "passed", "reason": "a slip", "note": "Axes?"}
        assert client.ask(FAILED, fields)[0] == 303
        assert client.ask(FAILED, fields | {"note": ""})[0] == 303  # says nothing new
        _, page = client.ask(FAILED)
        for words in ("</span> Failed</span>", "→ Advance", "counts as passed", "Axes?", "Ada"):
            assert words in page
        assert "→ Advance" in client.ask("/")[1]
    with Reviews(folder) as reviews:
        (decision,) = reviews.decisions()
        assert (decision.choice, decision.verdict) == (Choice.ADVANCE, Verdict.PASSED)
        assert decision.sha256 == samples.over_queries().result.sha256
        assert [note.text for note in reviews.notes()] == ["Axes?"]


def test_an_override_without_a_reason_is_refused_and_nothing_is_written(folder: Path) -> None:
    with served(folder) as client:
        status, said = entered(client).ask(FAILED, {"choice": "hold", "verdict": "passed"})
        assert status == 400
        assert "the reason is empty" in said
    with Reviews(folder) as reviews:
        assert reviews.decisions() == []


def test_the_address_is_good_once_and_without_the_cookie_nothing_is_shown(folder: Path) -> None:
    with served(folder) as client:
        address = client.guard.first_path()
        assert client.ask("/")[0] == 403
        assert client.ask("/enter?token=guess")[0] == 403
        entered(client)
        assert client.ask("/")[0] == 200
        thief = Client(client.port, client.guard)
        assert thief.ask(address)[0] == 403
        assert thief.cookie == ""
        assert thief.ask("/")[0] == 403


def test_other_sites_other_hosts_and_forms_without_proof_are_refused(folder: Path) -> None:
    fields = {"choice": "reject"}
    with served(folder) as client:
        entered(client)
        assert client.ask(FAILED, fields, Origin="https://evil.example")[0] == 403
        assert client.ask(FAILED, fields, Origin="null")[0] == 403
        assert client.ask(FAILED, fields, Sec_Fetch_Site="cross-site")[0] == 403
        assert client.ask("/", Host="evil.example")[0] == 403
        assert client.ask(FAILED, fields | {"form": "guess"})[0] == 403
        assert client.ask(FAILED, {"note": "x" * (3 << 20)})[0] == 413
    with Reviews(folder) as reviews:
        assert reviews.decisions() == []


@pytest.mark.parametrize(
    "path",
    ["/../results.json", "/cards/../results.json", "/cards/..%2fresults.html", "/results.json",
     "/ledger.sqlite", "/cards/%2e%2e/%2e%2e/etc/passwd.html", "/compare?left=..&right=../x",
     "/marks/1"],
)  # fmt: skip
def test_no_path_leads_out_of_the_pages(folder: Path, path: str) -> None:
    with served(folder) as client:
        assert entered(client).ask(path)[0] == 404


def test_a_note_full_of_mark_up_is_text(folder: Path) -> None:
    with served(folder) as client:
        entered(client).ask(FAILED, {"note": samples.HOSTILE, "choice": "undecided"})
        page = client.ask(FAILED)[1]
    assert "<script" not in page
    assert "&lt;script&gt;alert(2)" in page


def test_two_servers_on_one_folder_lose_nothing(folder: Path) -> None:
    with served(folder, "Ada") as one, served(folder, "Kurt") as other:
        entered(one), entered(other)
        with ThreadPoolExecutor(4) as threads:
            sent = [
                threads.submit(client.ask, FAILED, {"note": f"{name} {number}"})
                for number in range(10)
                for name, client in (("a", one), ("b", other))
            ]
            assert {each.result()[0] for each in sent} == {303}
    with Reviews(folder) as reviews:
        texts = {note.text for note in reviews.notes()}
    assert texts == {f"{name} {number}" for name in "ab" for number in range(10)}


def test_two_submissions_stand_side_by_side(folder: Path) -> None:
    slugs = [Path(card.result.card).stem for card in (samples.right(), samples.over_queries())]
    with served(folder) as client:
        status, page = entered(client).ask(f"/compare?left={slugs[0]}&right={slugs[1]}")
    assert status == 200
    assert "ada-lovelace and grace-hopper" in page
    assert "7 checks differ" in page


def test_a_card_offers_every_other_one_for_comparison(folder: Path) -> None:
    own, other = (Path(one.result.card).stem for one in (samples.right(), samples.over_queries()))
    with served(folder) as client:
        status, page = entered(client).ask(f"/cards/{own}.html")
    assert status == 200
    assert f'<input type="hidden" name="left" value="{own}">' in page
    assert f'<option value="{other}">grace-hopper</option>' in page
    assert f'<option value="{own}">' not in page


def written(name: str, answer: str) -> Card:
    point = KeyPoint(id="8.1", text="dividing by the square root", level=Level.PASS)
    question = Question(
        id="8", part="Scale", text="Why divide?", answers={"answer": answer}, points=(point,)
    )
    card = samples.card(name, "", ())
    result = msgspec.structs.replace(
        card.result, verdict=Verdict.AWAITING_REVIEW, card=f"cards/{name}-00.html", earned=0
    )
    return msgspec.structs.replace(card, result=result, questions=(question,))


def test_answers_are_marked_by_question_without_names_and_fold_into_the_verdict(
    tmp_path: Path,
) -> None:
    cards = (written("ada", "Dividing keeps the variance."), written("kurt", "Something else."))
    write(samples.batch(cards), cards, tmp_path)
    with served(tmp_path) as client:
        page = entered(client).ask("/marks/8")[1]
        assert "<mark>Dividing</mark>" in page
        assert not re.search("ada|kurt|checked", page)
        keys = re.findall(r'name="mark (\w+) 8.1" value="0"', page)
        marks = {f"mark {key} 8.1": "0.5" for key in keys}
        assert client.ask("/marks/8", marks)[0] == 303
        assert len(re.findall("checked", client.ask("/marks/8")[1])) == 2
        assert "Awaiting review (" not in client.ask("/")[1]
        assert "Half" not in client.ask("/cards/ada-00.html")[1]
    with Reviews(tmp_path) as reviews:
        shares = sorted((mark.submission, mark.point, mark.share) for mark in reviews.marks())
    assert shares == [
        ("ada", "", 1.0),
        ("ada", "8.1", 0.5),
        ("kurt", "", 1.0),
        ("kurt", "8.1", 0.5),
    ]


def test_whoever_saves_can_go_to_the_next_question_and_from_the_last_one_to_all(
    tmp_path: Path,
) -> None:
    card = written("ada", "Dividing.")
    other = msgspec.structs.replace(card.questions[0], id="9", text="Over which axis?")
    card = msgspec.structs.replace(card, questions=(*card.questions, other))
    write(samples.batch((card,)), (card,), tmp_path)
    with served(tmp_path) as client:
        assert "Save and go to the next question" in entered(client).ask("/marks/8")[1]
        assert went(client, "/marks/8", go="next") == "/marks/9"
        assert "Save and go to all questions" in client.ask("/marks/9")[1]
        assert went(client, "/marks/9", go="next") == "/marks"
        assert went(client, "/marks/9") == "/marks/9"


def test_a_chinese_sheet_is_chinese_but_for_what_was_written(tmp_path: Path) -> None:
    cards = tuple(written(name, "Dividing, as I said.") for name in ("ada", "kurt"))
    chinese = [
        msgspec.structs.replace(
            card,
            questions=tuple(
                msgspec.structs.replace(
                    question, text_zh="为什么要除？", model_answer_zh="方差。",
                    red_flags=(RedFlag(text="more is better", text_zh="越多越好"),),
                    points=(msgspec.structs.replace(question.points[0], text_zh="除以根号"),),
                )
                for question in card.questions
            ),
        )
        for card in cards
    ]  # fmt: skip
    write(samples.batch(chinese), chinese, tmp_path)
    with served(tmp_path, Language.load("zh")) as client:
        pages = [entered(client).ask("/marks/8")[1], client.ask("/marks")[1]]
    for page in pages:
        body = re.sub(r"<(style|head)\b.*?</\1>|<[^>]*>", " ", page, flags=re.DOTALL)
        left = set(re.findall("[A-Za-z]{2,}", body)) - {"Dividing", "as", "said", "takehome"}
        assert left <= {"pass"}, left
        assert "为什么要除？" in body
    assert "除以根号" in pages[0]


def test_what_became_of_code_is_told_without_a_name_and_its_card_is_served(tmp_path: Path) -> None:
    card = written("ada", "```python ... ```")
    code = samples.over_queries()
    code = msgspec.structs.replace(
        code, result=msgspec.structs.replace(code.result, card="cards/ada-question-8-01.html")
    )
    question = msgspec.structs.replace(card.questions[0], code=code)
    card = msgspec.structs.replace(card, questions=(question,))
    write(samples.batch((card,)), (card,), tmp_path)
    with served(tmp_path) as client:
        sheet = entered(client).ask("/marks/8")[1]
        assert "One bug: Softmax over the queries" in sheet
        assert not re.search("ada|href=.*cards", sheet)
        assert '<a href="ada-question-8-01.html">' in client.ask("/cards/ada-00.html")[1]
        status, page = client.ask("/cards/ada-question-8-01.html")
    assert status == 200
    assert "The bug" in page and "Your decision" not in page


def test_a_browser_that_sends_no_referrer_may_mark(tmp_path: Path) -> None:
    cards = (written("ada", "Dividing keeps the variance."),)
    write(samples.batch(cards), cards, tmp_path)
    with served(tmp_path) as client:
        entered(client)
        sent = {"Origin": "null", "Sec_Fetch_Site": "same-origin"}
        assert client.ask("/marks/8", {}, **sent)[0] == 303


def test_decisions_are_exported_and_read_again_once(tmp_path: Path) -> None:
    decision = Decision(
        submission='"王\n伟"', reviewer="Ada", time="2026-12-01T10:00:00+00:00",
        choice=Choice.HOLD, verdict=Verdict.PASSED, reason="“why”\x7f\\",
    )  # fmt: skip
    note = Note(submission="gone", reviewer="Ada", time="x", text="kept, though no card is there")
    (tmp_path / "one").mkdir()
    (tmp_path / "other").mkdir()
    with Reviews(tmp_path / "one") as one, Reviews(tmp_path / "other") as other:
        one.append([decision, note])
        (tmp_path / "other" / "decisions.toml").write_text(decisions_toml(one), encoding="utf-8")
        assert import_decisions(tmp_path / "other", other) == 2
        assert import_decisions(tmp_path / "other", other) == 0
        assert (other.decisions(), other.notes()) == ([decision], [note])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[decision\n", "line 1"),
        ("[[decisions]]\n", "expected [[decision]] or [[note]]"),
        ("[[note]]\nsubmission = 3\n", "note 1 is not usable"),
        (
            '[[decision]]\nsubmission = "a"\nreviewer = "b"\ntime = "c"\nverdict = "passed"\n',
            "decision 1 has no reason",
        ),
    ],
)
def test_a_file_of_decisions_that_cannot_be_read_is_named_and_nothing_written(
    tmp_path: Path, text: str, words: str
) -> None:
    (tmp_path / "decisions.toml").write_text(text)
    with Reviews(tmp_path) as reviews:
        with pytest.raises(UsageError) as raised:
            import_decisions(tmp_path, reviews)
        assert words in str(raised.value)
        assert reviews.decisions() == []
