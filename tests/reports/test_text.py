from __future__ import annotations

from reports.text import FIELD, card_link, clip, shown
from tests.reports import samples


def test_a_text_cut_short_says_how_much_is_missing() -> None:
    assert clip("x" * 5000) == "x" * FIELD + " … [904 more characters]"


def test_showing_an_honest_result_changes_nothing() -> None:
    result = samples.over_queries().result
    assert shown(result) == result


def test_every_text_of_a_card_is_made_visible_however_deep() -> None:
    card = samples.hostile("\x1b[2J")
    assert "\x1b" in repr(card).encode().decode("unicode_escape")
    assert "\x1b" not in repr(shown(card)).encode().decode("unicode_escape")


def test_a_card_s_address_leads_nowhere_else() -> None:
    assert card_link("cards/ada-1f2e3d.html") == "cards/ada-1f2e3d.html"
    for other in ("", "javascript:alert(1)", "cards/../../etc/x.html", "//evil.example/x.html"):
        assert card_link(other) == ""
