import re

from harness.candidate_view import for_candidate
from harness.language import ENGLISH, Language
from reports.candidate import render_candidate
from reports.scorecard import render_card
from reports.translation import translated
from tests.reports import samples

CHINESE = Language.load("zh")


def test_a_page_in_english_is_as_it_was():
    page = render_card(samples.over_queries())
    assert translated(page, ENGLISH) == page


def test_a_card_that_was_graded_in_english_is_read_in_chinese():
    page = translated(render_card(samples.over_queries()), CHINESE)
    assert '<html lang="zh">' in page
    for word in ("未通过", "检查", "接下来可以问", "源代码"):
        assert word in page
    assert "Skip to the findings" not in page
    assert translated(page, CHINESE) == page


def test_what_a_candidate_wrote_stays_as_it_is():
    page = (
        '<h1>passed</h1><p title="Source">Source</p><pre>Source</pre><code>Hint</code>'
        '<span class="mono">points</span><script>"Source"</script>'
    )
    assert translated(page, CHINESE) == (
        '<h1>passed</h1><p title="源代码">源代码</p><pre>Source</pre><code>Hint</code>'
        '<span class="mono">points</span><script>"Source"</script>'
    )


def test_text_cannot_become_a_tag_by_its_translation():
    language = Language("xx", {"{0} is no array": "{0} <b> {0}"})
    page = translated("<p>&lt;i&gt; is no array</p>", language)
    assert page == "<p>&lt;i&gt; &lt;b&gt; &lt;i&gt;</p>"


def test_the_card_of_a_candidate_is_mostly_chinese():
    page = translated(render_candidate(for_candidate(samples.over_queries())), CHINESE)
    body = re.sub(r"<(style|pre|code)\b.*?</\1>", "", page, flags=re.DOTALL)
    texts = [text.strip() for text in re.findall(r">([^<]+)<", body)]
    english = [text for text in texts if re.search(r"[a-z]{3,} [a-z]{2,}", text)]
    assert len(english) <= 0.2 * len(texts), english


def test_bugs_in_a_row_and_a_sentence_that_begins_in_lower_case_are_known():
    page = translated(
        "<td>Scores divided by d_k, not by √d_k; blocked scores set to 0</td>"
        "<td>It did not answer within 5 s</td>",
        CHINESE,
    )
    assert "；被屏蔽的分数设为 0</td>" in page
    assert "5" in page.split("<td>")[2]
    assert not re.search("[a-z]{4}", page.split("<td>")[2])
