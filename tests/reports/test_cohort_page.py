"""The page of a batch at work in a real Chromium, from a file and without a network."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from playwright.sync_api import Browser, Page, expect

from harness.language import Language
from harness.results import BatchResults
from reports import write
from reports.index import ROWS, render_pages
from tests.reports import samples

pytestmark = pytest.mark.browser

NAMES = "#cohort tbody th"


def cohort(count: int) -> BatchResults:
    kinds = [card.result for card in samples.cards()]
    people = (
        msgspec.structs.replace(
            kinds[number % len(kinds)],
            id=f"person {number:05d}",
            card=f"cards/person-{number:05d}.html",
        )
        for number in range(count)
    )
    return msgspec.structs.replace(samples.batch(), submissions=tuple(people))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("cohort")
    for name, text in render_pages(cohort(2 * ROWS + 8)).items():
        (out / name).write_text(text)
    return out


@pytest.fixture
def page(browser: Browser, site: Path) -> Iterator[Page]:
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto((site / "index.html").as_uri())
    yield page
    page.close()
    assert said == []  # among it, every violation of the Content-Security-Policy


def names(page: Page) -> list[str]:
    return page.locator(NAMES).all_inner_texts()


def test_the_script_draws_the_rows_that_the_page_carries(page: Page) -> None:
    rows = "[...document.querySelectorAll('#cohort tbody tr')].map(row => row.outerHTML)"
    before = page.evaluate(rows)
    page.get_by_label("Verdict").select_option("Failed")
    expect(page.locator(NAMES)).to_have_count(4)
    page.get_by_role("button", name="Show all").click()
    expect(page.locator(NAMES)).to_have_count(8)
    assert page.evaluate(rows) == before


def test_search_filters_and_bugs_narrow_the_rows_and_the_address_remembers(page: Page) -> None:
    page.get_by_role("searchbox").fill("LOVELACE")
    expect(page.locator(NAMES)).to_have_text(["ada-lovelace"])
    page.get_by_role("searchbox").fill("")
    page.get_by_role("button", name="Softmax over the queries").click()
    expect(page.locator(NAMES)).to_have_text(["grace-hopper"])
    expect(page.get_by_role("status")).to_have_text("1 of 8 shown")
    page.get_by_role("link", name="grace-hopper").click()
    page.go_back()
    expect(page.locator(NAMES)).to_have_text(["grace-hopper"])
    page.get_by_role("button", name="Softmax over the queries").click()
    page.get_by_label("Stage").select_option("heads")
    assert "mary-jackson" in names(page)
    page.get_by_label("Stage").select_option("")
    page.get_by_label("Failed check").select_option("fully-masked-row")
    expect(page.locator(NAMES)).to_have_text(["katherine-johnson"])


def test_a_click_on_a_column_sorts_by_it_and_another_turns_it_round(page: Page) -> None:
    head = page.locator("th[data-sort=id]")
    head.get_by_role("button").click()
    order = names(page)
    assert order.index("ada-lovelace") < order.index("grace-hopper") < order.index("linus-t")
    assert head.get_attribute("aria-sort") == "ascending"
    head.get_by_role("button").click()
    assert names(page) == order[::-1]


def test_keys_move_search_and_open_and_can_be_switched_off(page: Page) -> None:
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.textContent") == names(page)[1]
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "search"
    page.keyboard.type("jk/")
    assert page.get_by_role("searchbox").input_value() == "jk/"
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("ada-lovelace")
    page.go_back()
    page.get_by_label("Keys:").uncheck()
    page.locator("h1").click()
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") != "search"
    page.get_by_label("Keys:").check()


def test_a_large_cohort_is_sorted_whole_and_shown_in_thousands(
    browser: Browser, folder: Path
) -> None:
    page = browser.new_page()
    page.goto((folder / "index.html").as_uri())
    expect(page.locator(NAMES)).to_have_count(ROWS)
    page.locator("th[data-sort=id]").get_by_role("button").click()
    page.locator("th[data-sort=id]").get_by_role("button").click()
    assert names(page)[0] == f"person {2 * ROWS + 7:05d}"
    page.get_by_role("button", name="Next 1,000").click()
    page.get_by_role("button", name="Next 1,000").click()
    assert names(page)[-1] == "person 00000"
    expect(page.get_by_role("button", name="Next 1,000")).to_be_disabled()
    page.close()


def test_without_script_every_submission_stands_in_plain_pages(
    browser: Browser, folder: Path
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((folder / "index.html").as_uri())
    expect(page.locator("#filters")).to_be_hidden()
    expect(page.locator(NAMES)).to_have_count(ROWS)
    for number, rows in (("2", ROWS), ("3", 8)):
        # By key: rows are laid out as they come into view (content-visibility), so the link is
        # still moving when a click on its place arrives.
        page.get_by_role("link", name=number, exact=True).press("Enter")
        expect(page).to_have_url(re.compile(rf"{number}\.html$"))
        expect(page.locator(NAMES)).to_have_count(rows)
    context.close()


def test_a_chinese_page_stays_chinese_when_its_rows_are_drawn_again(
    browser: Browser, tmp_path: Path
) -> None:
    write(samples.batch(), samples.cards(), tmp_path, language=Language.load("zh"))
    page = browser.new_page()
    page.goto((tmp_path / "index.html").as_uri())
    before = page.locator("#cohort tbody").inner_text()
    assert "通过" in before
    page.get_by_role("searchbox").fill("a")
    page.get_by_role("searchbox").fill("")
    assert page.locator("#cohort tbody").inner_text() == before
    page.get_by_role("searchbox").fill("所有检查")
    expect(page.locator(NAMES)).not_to_have_count(0)
    page.close()
