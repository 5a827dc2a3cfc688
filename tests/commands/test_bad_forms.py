"""Forms as people hand them in: each is read, or refused with the line, and none is invalid."""

import re

import pytest

import specs
from harness.commands.batch_run import Repairs
from harness.commands.grade import Request, grade_batch
from harness.results import Verdict

STARTER = specs.load("written_answers").starter
FORM = re.sub(r"^(\*\*\d+ [^*]+:\*\*)$", r"\1 an answer 一个答案", STARTER, flags=re.MULTILINE)
MARK = "**8 answer:**"


def after(text: str) -> bytes:
    """Return the form with a text after the mark of question 8."""
    return FORM.replace(MARK, f"{MARK} {text}\n", 1).encode("utf-8", "surrogatepass")


WITHOUT_8 = re.sub(r"### 8\..*?(?=### 9\.)", "", FORM, flags=re.DOTALL)
READ = {
    "question_added": (FORM + "\n### 67. Why?\n\n**67 answer:** so\n").encode(),
    "question_removed": WITHOUT_8.encode(),
    "renumbered": FORM.replace(MARK, "**80 answer:**").encode(),
    "doubled": FORM.replace(MARK, f"{MARK} once\n\n{MARK} twice").encode(),
    "zero_padded": FORM.replace(MARK, "**008 answer:**").encode(),
    "order_reversed": "\n".join(reversed(FORM.split("\n### "))).encode(),
    "heading_in_answer": after("\n## A heading of my own\nand a text"),
    "utf8_bom": b"\xef\xbb\xbf" + FORM.encode(),
    "utf16_le": FORM.encode("utf-16"),
    "utf16_be": b"\xfe\xff" + FORM.encode("utf-16-be"),
    "gb18030": FORM.encode("gb18030"),
    "gbk": FORM.encode("gb18030"),
    "crlf": FORM.replace("\n", "\r\n").encode(),
    "cr_only": FORM.replace("\n", "\r").encode(),
    "line_separators": FORM.replace("\n", "\u2028").encode(),
    "html": after('<script>alert(1)</script><img src=x onerror="alert(1)"></p></section>'),
    "html_comment": after("<!-- all below is a comment"),
    "formulas": after("$$\\frac{QK^T}{\\sqrt{d_k}}$$ =cmd|' /C calc'!A0 +1+1 @SUM(1)"),
    "control_characters": after("a\x01\x07\x1b[31mred\x7f\x85b"),
    "bidirectional": after("\u202e\u2066 hidden \u200b\ufeff"),
    "nested_fences": after("\n````md\n```python\n## not a heading\n**9 dimension:** 5\n```\n````"),
    "fence_never_closed": after("\n```python\nx = 1"),
    "tables": after("\n| a | b |\n|---|---|\n| 1 | 2 |"),
    "combining_marks": after("z" + "\u0301" * 5000),
    "one_long_line": after("x" * 100_000),
    "emoji": after("🙂👩‍👩‍👧"),
    "braces": after("{0} {name} %s %(x)s {{ 7 * 7 }} {% raw %} ${x}"),
    "digits_of_a_thousand": after("\n**" + "9" * 1000 + " answer:** x"),
}
REFUSED = {
    "empty": (b"", "no field of the form"),
    "blanks": (b" \n\n", "no field of the form"),
    "essay": (b"I like attention.\n" * 100, "no field of the form"),
    "five_megabytes": (after("x" * (5 << 20)), "is larger than"),
    "nul": (after("a\0b"), "has a NUL character"),
    "lone_surrogates": (after("\ud800"), "is not UTF-8; save it as UTF-8"),
    "binary": (bytes(range(256)) * 50, "line "),
    "fields_without_end": (
        "".join(f"**{number} answer:** x\n" for number in range(1, 700)).encode(),
        "line 501 is field 501",
    ),
    "draw_number_altered": (b"Form: 8,25/ab12/00000000\n" + FORM.encode(), "line 1"),
}


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """Every form graded in one batch, by its name."""
    folder = tmp_path_factory.mktemp("forms")
    inbox = folder / "in"
    inbox.mkdir()
    for name, data in {**READ, **{name: data for name, (data, _) in REFUSED.items()}}.items():
        (inbox / f"{name}.md").write_bytes(data)
    request = Request(
        paths=(inbox,), spec="written_answers", out=folder / "out", jobs=1, sandbox="process",
        reuse=False, runtime=None, seed="7", fresh=False, single=False, adapt=False,
        for_candidates=False, repairs=Repairs.NONE,
    )  # fmt: skip
    results = grade_batch(request, lambda line: None)
    return folder / "out", {one.id: one for one in results}


@pytest.mark.parametrize("name", READ)
def test_a_form_that_a_person_can_read_is_read(graded, name):
    folder, results = graded
    result = results[name]
    assert result.verdict is Verdict.AWAITING_REVIEW, result.reason
    answered = int(re.match(r"answered (\d+) of 66;", result.reason)[1])
    assert answered >= 65 or name in ("order_reversed", "fence_never_closed")
    page = (folder / result.card).read_text(encoding="utf-8")
    assert "<script>alert" not in page and "\x1b" not in page and "\u202e" not in page


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_form_is_refused_and_told_where(graded, name):
    result = graded[1][name]
    assert result.verdict is Verdict.UNGRADEABLE
    assert REFUSED[name][1] in result.reason


@pytest.mark.parametrize(
    ("name", "remark"),
    [
        ("question_added", r"line \d+: nothing asks for “67 answer”; not read"),
        ("question_removed", r"1 of \d+ marks of the form are gone: 8 answer"),
        ("renumbered", r"line \d+: nothing asks for “80 answer”; not read"),
        ("doubled", r"line \d+: “8 answer” comes again in line \d+; read together"),
        ("gb18030", "read as gb18030; save it as UTF-8"),
        ("utf16_le", "read as utf-16; save it as UTF-8"),
    ],
)
def test_what_was_changed_in_a_form_is_told_on_its_card(graded, name, remark):
    notes = graded[1][name].notes
    assert [note for note in notes if re.fullmatch(remark, note)], notes
