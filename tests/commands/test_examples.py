import ast

import specs
from harness.commands import check_pages
from harness.commands.examples import example_for, example_of
from harness.commands.explain import explanation
from harness.language import Language

NUMPY = specs.load("numpy_attention")


def test_a_mistake_is_shown_beside_what_is_right():
    flaw = next(flaw for flaw in NUMPY.flaws if flaw.id == "scale-by-d")
    example = example_of(flaw, NUMPY)
    assert example.wrong == "scale = lambda logits, width: logits / width"
    assert "logits / width**0.5" in example.right


def test_every_example_is_python():
    for flaw in NUMPY.flaws:
        if example := example_of(flaw, NUMPY):
            for code in example:
                ast.parse(code)


def test_a_check_is_explained_with_a_wrong_and_a_right_example():
    text = explanation("scale", [NUMPY])
    assert "\nWrong:\n\n    scale = lambda" in text
    assert "\nRight:\n\n    def scale(" in text


def test_most_checks_of_code_have_an_example():
    loaded = [specs.load(name) for name in specs.TITLES if name != "written_answers"]
    checks = [(check.id, spec) for spec in loaded for check in spec.checks]
    without = {name for name, spec in checks if example_for(name, spec) is None}
    assert len(without) <= 0.1 * len(checks), without


def test_every_check_has_a_page():
    pages = {path.name for path in check_pages.FOLDER.glob("*.md")}
    assert pages <= check_pages.pages().keys(), "run harness.commands.check_pages"
    assert len(pages) >= 0.9 * len(check_pages.pages()), "run harness.commands.check_pages"


def test_the_pages_of_the_checks_are_those_that_the_specs_make():
    for name, text in check_pages.pages().items():
        assert (check_pages.FOLDER / name).read_text(encoding="utf-8") == text, name


def test_a_check_of_forms_that_are_drawn_is_explained():
    said = explanation("c36-mistake", [specs.load("written_answers")])
    assert "Question 36" in said and "level good, 2 points" in said


def test_a_check_and_a_mistake_are_explained_in_chinese():
    chinese = Language.load("zh")
    check = explanation("scale", [NUMPY], chinese)
    assert check.startswith("softmax 之前分数除以 √d_k。\n")
    assert "\n错：\n\n    scale = lambda" in check
    assert "（阶段：缩放）" in explanation("no-scale", [NUMPY], chinese)
