"""Two full forms marked from start to end in a real Chromium, with clicks and keys counted."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page

import specs
from harness.commands.batch_run import Repairs
from harness.commands.grade import Request, grade_batch
from tests.commands.test_served import served

pytestmark = [pytest.mark.browser, pytest.mark.slow]

FILLED = Path(__file__).parent / "filled_forms"


def filled(name: str) -> str:
    """Return the form with the answers of a file, whose lines are ``field|answer``."""
    form = specs.load("written_answers").starter
    text = (FILLED / f"{name}.txt").read_text(encoding="utf-8")
    for field, answer in re.findall(r"^(\d+ [^|\n]+)\|(.*(?:\n(?!\d+ [^|\n]+\|).*)*)", text, re.M):
        mark = f"**{field}:**"
        assert form.count(mark) == 1, field
        form = form.replace(mark, f"{mark}\n\n{answer.replace(' / ', chr(10))}")
    return form


class Reviewer:
    """Somebody with a mouse and a keyboard; both are counted."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.clicks = self.keys = 0

    def click(self, locator: Locator) -> None:
        locator.click()
        self.clicks += 1

    def type(self, locator: Locator, text: str) -> None:
        self.click(locator)
        self.page.keyboard.type(text)
        self.keys += len(text)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    inbox = tmp_path / "in"
    inbox.mkdir()
    for name in ("chinese", "english"):
        (inbox / f"{name}.md").write_text(filled(name), encoding="utf-8")
    request = Request(
        paths=(inbox,), spec="written_answers", out=tmp_path / "out", jobs=1, sandbox="process",
        reuse=False, runtime=None, seed="7", fresh=False, single=False, adapt=False,
        for_candidates=False, repairs=Repairs.NONE,
    )  # fmt: skip
    results = grade_batch(request, lambda line: None)
    assert [one.reason.partition(";")[0] for one in results] == ["answered 66 of 66"] * 2
    assert all(check.outcome == "passed" for one in results for check in one.checks)
    return tmp_path / "out"


def test_two_full_forms_take_a_click_per_mark_and_one_per_page(
    out: Path, browser: Browser, capsys: pytest.CaptureFixture[str]
) -> None:
    values = itertools.cycle(["1", "1", "1", "0.5", "1", "0"])
    with served(out) as client:
        page = browser.new_context().new_page()
        reviewer = Reviewer(page)
        page.goto(f"http://127.0.0.1:{client.port}{client.guard.first_path()}")
        page.goto(f"http://127.0.0.1:{client.port}/marks")
        with page.expect_navigation():
            reviewer.click(page.locator("tbody a").first)
        pages = marks = 0
        while page.locator(".marks-form").count():
            pages += 1
            assert not re.search("chinese|english", page.locator("main").inner_text())
            for fields in page.locator("fieldset").all():
                reviewer.click(fields.locator(f'input[value="{next(values)}"]'))
                marks += 1
            if pages == 8:
                reviewer.type(page.locator(".long input").first, "不错 good")
            with page.expect_navigation():
                reviewer.click(page.locator('button[value="next"]'))
        assert page.url.endswith("/marks")
        assert {row.inner_text() for row in page.locator("tbody td:last-child").all()} == {"0"}
        page.goto(f"http://127.0.0.1:{client.port}/")
        assert "Awaiting review" not in page.locator("main").inner_text()
        page.context.close()
    with capsys.disabled():
        print(f"\n{reviewer.clicks} clicks, {reviewer.keys} keys: {marks} marks on {pages} pages")
    assert reviewer.clicks == marks + pages + 2
