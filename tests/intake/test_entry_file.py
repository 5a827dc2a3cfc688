import pytest

from harness.errors import Refused
from harness.intake.entry_file import choose_entry
from harness.parsing.client import Outline

NOTHING = Outline(defines=frozenset(), imports=frozenset())
DEFINES = Outline(defines=frozenset({"f"}), imports=frozenset())


def never(name: str) -> Outline | None:
    raise AssertionError(f"the content of {name} was asked for")


def importing(*names: str) -> Outline:
    return Outline(defines=frozenset({"f"}), imports=frozenset(names))


@pytest.mark.parametrize(
    ("names", "entry"),
    [
        (["work.py"], "work.py"),
        (["Untitled.ipynb"], "Untitled.ipynb"),
        (["src/work.py", "tests/test_work.py", "setup.py", "conftest.py"], "src/work.py"),
        (["pkg/__init__.py", "pkg/work.py"], "pkg/work.py"),
        (["test_attention.py"], "test_attention.py"),
        (["main.py", "attention.py", "solution.py", "submission.py"], "submission.py"),
        (["main.py", "attention.py", "solution.py"], "solution.py"),
        (["main.py", "Attention.py"], "Attention.py"),
        (["work.py", "main.py"], "main.py"),
        (["work.py", "attention.ipynb"], "attention.ipynb"),
        (["old/solution.py", "solution.py", "work.py"], "solution.py"),
    ],
)
def test_names_alone_decide_when_they_can(names: list[str], entry: str) -> None:
    assert choose_entry(names, never) == entry


def test_two_preferred_names_at_the_same_depth_do_not_decide() -> None:
    outlines = {"a/solution.py": NOTHING, "b/solution.py": DEFINES}
    assert choose_entry(list(outlines), outlines.get) == "b/solution.py"


def test_the_only_file_that_defines_something_is_chosen() -> None:
    outlines = {"demo.ipynb": NOTHING, "mha.py": DEFINES, "plot.py": NOTHING}
    assert choose_entry(list(outlines), outlines.get) == "mha.py"


def test_the_only_file_that_no_other_imports_is_chosen() -> None:
    outlines = {"heads.py": importing("numpy"), "masks.py": DEFINES, "mha.py": importing("heads")}
    with pytest.raises(Refused):
        choose_entry(list(outlines), outlines.get)
    outlines["mha.py"] = importing("heads", "masks")
    assert choose_entry(list(outlines), outlines.get) == "mha.py"


def test_a_file_that_cannot_be_parsed_may_be_the_answer() -> None:
    outlines = {"mha.py": None, "plot.py": NOTHING}
    assert choose_entry(list(outlines), outlines.get) == "mha.py"


def test_what_remains_ambiguous_is_refused_with_the_names() -> None:
    names = [f"v{n}.py" for n in range(7)]
    with pytest.raises(Refused) as refused:
        choose_entry(names, dict.fromkeys(names, DEFINES).get)
    assert str(refused.value) == (
        "the submission has 7 files that could be the answer "
        "(v0.py, v1.py, v2.py, v3.py, v4.py and 2 more), expected one; name it submission.py"
    )


def test_no_file_is_refused() -> None:
    with pytest.raises(Refused, match="no Python file or notebook"):
        choose_entry([], never)


def defining(name: str) -> Outline:
    return Outline(defines=frozenset({name}), imports=frozenset())


def test_the_only_file_that_defines_what_is_asked_is_chosen_before_a_usual_name() -> None:
    asked = [frozenset({"MultiHeadAttention"}), frozenset({"Attention"})]
    outlines = {"main.py": defining("train"), "mha.py": defining("MultiHeadAttention")}
    assert choose_entry(list(outlines), outlines.get, asked) == "mha.py"
    outlines["mha.py"] = defining("Attention")
    assert choose_entry(list(outlines), outlines.get, asked) == "mha.py"


def test_of_two_files_that_define_what_is_asked_the_usual_name_decides() -> None:
    outlines = {"old.py": defining("f"), "solution.py": defining("f"), "main.py": defining("g")}
    assert choose_entry(list(outlines), outlines.get, [frozenset({"f"})]) == "solution.py"


def test_the_file_that_has_the_most_of_what_is_asked_is_chosen() -> None:
    asked = [frozenset({"attention", "causal_mask"})]
    top = Outline(defines=frozenset({"attention"}), imports=frozenset({"masks", "causal_mask"}))
    train = Outline(defines=frozenset({"train"}), imports=frozenset({"attention", "causal_mask"}))
    outlines = {"masks.py": defining("causal_mask"), "top.py": top, "main.py": train}
    assert choose_entry(list(outlines), outlines.get, asked) == "top.py"
