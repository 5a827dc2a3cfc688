"""The pages in a real Chromium: quiet, calm, legible, and inside the window."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from tests.reports import samples
from tests.reports.payloads import PAYLOADS

pytestmark = pytest.mark.browser

ColorScheme = Literal["light", "dark"]

ADDRESSES = ("index.html", *(card.result.card for card in samples.cards()))
CANDIDATE = f"candidate/{Path(samples.crashed().result.card).name}"

#: Pages that have something which others have not; only these are seen small and dark as well.
RICH = (
    "index.html",
    samples.composite().result.card,
    samples.crashed().result.card,
    samples.hostile().result.card,
    CANDIDATE,
)
VISITS = [
    *((1280, "light", address) for address in (*ADDRESSES, CANDIDATE)),
    *((360, "dark", address) for address in RICH),
]

#: Elements that stick out of the window, but for those that scroll or are clipped by themselves.
STICKS_OUT = """() => [...document.querySelectorAll("body *")].filter(element => {
  if (element.closest("pre, .array, .sr, .skip")) return false;
  const box = element.getBoundingClientRect();
  return box.width > 1 && (box.right > innerWidth + 1 || box.left < -1);
}).map(element => element.outerHTML.slice(0, 120))"""


#: Leaves twelve lines of each file: lines are alike, and axe looks at every token.
SHORTEN = """document.querySelectorAll(".code .line:nth-child(n + 13):not(.hit)")
  .forEach(line => line.remove())"""


class Visit:
    """A page with everything it said and asked for."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.said: list[str] = []
        self.asked: list[str] = []
        page.on("console", lambda message: self.said.append(message.text))
        page.on("pageerror", lambda error: self.said.append(str(error)))
        page.on("dialog", lambda dialog: (self.said.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: self.asked.append(request.url))

    def open(self, path: Path) -> str:
        self.page.goto(path.as_uri())
        return path.as_uri()


@pytest.fixture
def visit(browser: Browser, width: int, scheme: ColorScheme) -> Iterator[Visit]:
    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    yield Visit(page)
    page.close()


@pytest.fixture
def plain(browser: Browser) -> Iterator[Visit]:
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    yield Visit(page)
    page.close()


@pytest.mark.parametrize(("width", "scheme", "address"), VISITS)
def test_a_page_fits_the_window_asks_for_nothing_and_axe_finds_no_fault(
    visit: Visit, handed_out: Path, address: str
) -> None:
    # Layout depends on the width and contrast on the scheme, so that two views see everything.
    here = visit.open(handed_out / address)
    assert visit.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    visit.page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert visit.page.evaluate(STICKS_OUT) == []
    assert visit.said == []
    assert [url for url in visit.asked if url not in (here, "data:,")] == []
    visit.page.evaluate(SHORTEN)
    rules = {"runOnly": ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa", "best-practice"]}
    found = Axe().run(visit.page, options=rules)
    assert found.violations_count == 0, found.generate_report()


@pytest.mark.slow
def test_no_payload_runs_or_sends_anything(plain: Visit, tmp_path: Path) -> None:
    from reports import render_card

    for number, payload in enumerate(PAYLOADS):
        path = tmp_path / f"{number}.html"
        path.write_text(render_card(samples.hostile(payload)))
        here = plain.open(path)
        assert [url for url in plain.asked if url not in (here, "data:,")] == []
        assert plain.page.evaluate("document.scripts.length") == 0
        plain.asked.clear()
    assert plain.said == []


def test_nothing_of_a_hostile_card_runs(plain: Visit, site: Path) -> None:
    plain.open(site / samples.hostile().result.card)
    assert plain.page.evaluate("document.scripts.length") == 0
    assert plain.said == []


def test_a_script_that_slipped_in_would_not_run(plain: Visit, site: Path, tmp_path: Path) -> None:
    whole = (site / "index.html").read_text()
    path = tmp_path / "index.html"
    path.write_text(whole.replace("</main>", "<script>document.title = 'run'</script></main>"))
    plain.open(path)
    assert plain.page.title() != "run"


def test_a_line_link_leads_to_its_line(plain: Visit, site: Path) -> None:
    plain.page.emulate_media(reduced_motion="reduce")  # no smooth scrolling to wait for
    plain.open(site / samples.crashed().result.card)
    plain.page.get_by_role("link", name="line 15", exact=True).click()
    box = plain.page.locator("#L15:target").bounding_box()
    assert box is not None
    assert 0 <= box["y"] < 800


def test_a_batch_leads_to_its_cards_and_back(plain: Visit, site: Path) -> None:
    plain.open(site / "index.html")
    plain.page.get_by_role("link", name="grace-hopper").click()
    assert plain.page.locator("h1").inner_text() == "grace-hopper"
    plain.page.get_by_role("link", name="All submissions").click()
    assert plain.page.locator("h1").inner_text() == "Attention in numpy"


def test_the_first_screen_shows_verdict_bug_and_question(plain: Visit, site: Path) -> None:
    plain.open(site / samples.over_queries().result.card)
    for words in ("Failed", "One bug", "20 of 27 checks", "Ask next", "Each column"):
        box = plain.page.get_by_text(words).first.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= 800, words


def test_a_screen_reader_hears_stage_state_and_outcome_in_words(plain: Visit, site: Path) -> None:
    plain.open(site / samples.over_queries().result.card)
    plain.page.get_by_text("The numbers").click()
    tree = plain.page.locator("main").aria_snapshot()
    for words in (
        "normalise softmax over keys broken here",
        "differs: 0.3902",
        "wrong answer",
        'img "actual weights. query 0: ',
    ):
        assert words in tree.lower().replace("✕ ", ""), words


def test_headings_go_down_one_level_at_a_time(plain: Visit, site: Path) -> None:
    for address in ADDRESSES:
        plain.open(site / address)
        levels = plain.page.evaluate(
            "[...document.querySelectorAll('h1, h2, h3, h4')].map(one => +one.tagName[1])"
        )
        assert levels[0] == 1
        assert all(after <= before + 1 for before, after in pairwise(levels))


def test_print_is_black_on_white_whole_and_open(plain: Visit, site: Path) -> None:
    plain.page.emulate_media(media="print", color_scheme="dark")
    plain.open(site / samples.over_queries().result.card)
    paper = plain.page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert paper == "rgb(255, 255, 255)"
    answer = plain.page.get_by_text("It would hand out more or less").bounding_box()
    assert answer is not None
    assert answer["height"] > 0
    overflow = "getComputedStyle(document.querySelector('pre.code')).overflowX"
    assert plain.page.evaluate(overflow) == "visible"
    assert len(plain.page.pdf(format="A4")) > 10_000
