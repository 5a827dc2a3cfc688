import html
import re

from hypothesis import example, given
from hypothesis import strategies as st

from harness.parsing.child.highlighted_lines import run

PYTHON = st.lists(
    st.sampled_from(
        ['"""', "'", "def f(x):", "    return <b>", "\n", "\n\n", " # & note", "é", "\t"]
    )
).map("".join)


@given(PYTHON)
@example("")
@example("\n")
@example("\n\nx = 1\n\n")
@example('"""two\nlines"""')
def test_the_lines_say_exactly_what_the_source_says(text: str) -> None:
    lines = run({"text": text})["lines"]
    assert "\n".join(html.unescape(re.sub(r"<[^>]*>", "", line)) for line in lines) == text


def test_every_line_closes_its_own_spans() -> None:
    for line in run({"text": '"""a\nb\nc"""'})["lines"]:
        assert line.count("<span") == line.count("</span>") == 1


def test_classes_are_used_and_no_styles() -> None:
    assert run({"text": "def f(): pass"})["lines"][0].startswith('<span class="k">def</span>')
