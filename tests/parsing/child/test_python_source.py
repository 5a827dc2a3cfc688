import json
from typing import Any

import pytest

from harness.parsing.child.python_source import run as read_source


def notebook(*cells: str, **metadata: Any) -> str:
    code = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    prose = {"cell_type": "markdown", "metadata": {}, "source": "# Title\n!not code"}
    return json.dumps(
        {
            "cells": [prose, *({**code, "source": cell} for cell in cells)],
            "metadata": metadata,
            "nbformat": 4,
            "nbformat_minor": 5,
        }
    )


def run(arguments: dict[str, Any]) -> dict[str, Any]:
    return read_source({"form": "notebook", "replace": False, **arguments})


def script(text: str, *, replace: bool = False) -> tuple[str, list[str]]:
    read = read_source({"form": "script", "text": text, "replace": replace})
    return read["source"], read["notes"]


def source(*cells: str) -> str:
    found = str(run({"text": notebook(*cells)})["source"])
    compile(found, "notebook", "exec")
    return found


def notes(*cells: str) -> list[str]:
    found: list[str] = run({"text": notebook(*cells)})["notes"]
    return found


def test_code_cells_are_joined_under_markers() -> None:
    assert source("x = 1", "y = 2\nz = 3") == "# %% cell 1\nx = 1\n\n# %% cell 2\ny = 2\nz = 3\n"


def test_python_that_looks_like_magic_stays() -> None:
    cell = 'x = (7\n  % 3)\ny = 8 \\\n  % 3\nt = """\n!ls\n%time\nwhat?\n"""\n'
    assert cell in source(cell)
    assert notes(cell) == []


def test_python_that_looks_like_magic_stays_beside_real_magic() -> None:
    cell = 't = """\n%time\n"""\nx = (7\n  % 3)\n!ls'
    assert source(cell) == '# %% cell 1\nt = """\n%time\n"""\nx = (7\n  % 3)\n# !ls\n'


@pytest.mark.parametrize(
    ("line", "becomes"),
    [
        ("%matplotlib inline", "# %matplotlib inline"),
        ("!pip install -q torch", "# !pip install -q torch"),
        ("np.dot?", "# np.dot?"),
        ("?np.dot", "# ?np.dot"),
        ("%load_ext?", "# %load_ext?"),
        ("files = !ls", "files = None  # files = !ls"),
        ("t = %timeit -o f()", "t = None  # t = %timeit -o f()"),
        ("if True:\n    !ls", "if True:\n    pass  # !ls"),
        ("!pip install \\\n  torch", "# !pip install \\\n#   torch"),
    ],
)
def test_a_magic_line_becomes_a_line_that_does_nothing(line: str, becomes: str) -> None:
    assert source(f"{line}\nx = 1") == f"# %% cell 1\n{becomes}\nx = 1\n"
    assert len(notes(line)) == 1


@pytest.mark.parametrize("magic", ["%%time", "%%capture out", "%%writefile attention.py"])
def test_a_cell_magic_around_python_keeps_its_body(magic: str) -> None:
    assert source(f"{magic}\nx = 1") == f"# %% cell 1\n# {magic}\nx = 1\n"
    assert notes(f"{magic}\nx = 1") == [f"cell 1: {magic.split()[0]} was left out, its body kept"]


@pytest.mark.parametrize("magic", ["%%bash", "%%html", "%%writefile notes.txt", "%%javascript"])
def test_a_cell_of_another_language_is_left_out(magic: str) -> None:
    assert source(f"\n{magic}\nrm -rf x", "y = 1").endswith(
        f"# {magic}\n# rm -rf x\n\n# %% cell 2\ny = 1\n"
    )
    assert notes(f"{magic}\nx") == [f"cell 1: the {magic.split()[0]} cell was left out"]


def test_a_cell_that_is_not_python_does_not_cost_the_others() -> None:
    assert source("def f(:", "y = 1") == "# %% cell 1\n# def f(:\n\n# %% cell 2\ny = 1\n"
    assert notes("x = 1\ndef f(:")[0].startswith(
        "cell 1: left out, since it is not valid Python (line 2:"
    )


def test_future_imports_of_any_cell_come_first() -> None:
    joined = source("x = 1", "from __future__ import annotations\ndef f(a: Nope): ...")
    assert joined.startswith("from __future__ import annotations\n# %% cell 1\n")


def test_line_numbers_within_a_cell_stay() -> None:
    cell = "%time\n!ls\nx = 1\n%%not\n" * 3
    assert len(source(cell).split("\n")) == len(cell.split("\n")) + 2


def test_nothing_in_a_notebook_is_executed(tmp_path: Any) -> None:
    marker = tmp_path / "marker"
    run({"text": notebook(f"open({str(marker)!r}, 'w')", f"!touch {marker}", "%%bash\ntouch x")})
    assert not marker.exists()


def test_an_old_notebook_is_read() -> None:
    old = {
        "metadata": {"name": ""},
        "nbformat": 3,
        "nbformat_minor": 0,
        "worksheets": [
            {"cells": [{"cell_type": "code", "input": ["x = 1\n", "y = 2"], "outputs": []}]}
        ],
    }
    assert run({"text": json.dumps(old)})["source"] == "# %% cell 1\nx = 1\ny = 2\n"


def test_a_notebook_of_another_language_is_refused() -> None:
    text = notebook("x <- 1", kernelspec={"name": "ir", "display_name": "R", "language": "R"})
    assert run({"text": text}) == {"refused": "is a notebook in R, expected Python"}


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", "null", "1", "not json", '{"cells": 3, "nbformat": 4}', "[" * 100_000]
)
def test_what_is_no_notebook_is_refused(text: str) -> None:
    assert run({"text": text})["refused"].startswith("is not a readable notebook")


def test_shell_lines_and_magics_of_an_exported_notebook_are_left_out() -> None:
    text = "!pip install torch\n%matplotlib inline\nfrom __future__ import annotations\nx = 1\n"
    python, notes = script(text)
    compile(python, "script", "exec")
    assert python.split("\n")[:2] == ["# !pip install torch", "# %matplotlib inline"]
    assert notes == ["!pip install torch was left out", "%matplotlib inline was left out"]


def test_a_cell_of_another_language_in_an_exported_notebook_is_left_out() -> None:
    python, _ = script("x = 1\n\n%%bash\nrm -rf x\n\ny = 2\n")
    assert python == "x = 1\n\n# %%bash\n# rm -rf x\n\ny = 2\n"


def test_a_script_that_compiles_is_kept_to_the_character() -> None:
    text = 'x = (7\n % 3)  # １，２\ny = "“全角，”\u00a0"\n变量 = 1\n'
    assert script(text, replace=True) == (text, [])


@pytest.mark.parametrize(
    ("text", "means", "named"),
    [
        ("x\u00a0= 1", "x = 1", "line 1: U+00A0 was read as a space"),
        ("if x:\n\u3000\u3000y = 2", "if x:\n  y = 2", "line 2: U+3000 was read as a space"),
        ("x\u200b = 1", "x = 1", "line 1: U+200B was read as nothing"),
        ("x = “a，b”", 'x = "a，b"', 'line 1: “ (U+201C) was read as "'),
        ("x = ‘a’", "x = 'a'", "line 1: ‘ (U+2018) was read as '"),
        ("f（a，b）：", "f(a,b):", "line 1: （ (U+FF08) was read as ("),
        ("x ＝ １", "x = 1", "line 1: ＝ (U+FF1D) was read as ="),
        ("x = a − b", "x = a - b", "line 1: − (U+2212) was read as -"),
        (
            "# １，２\nx ＝ '，'  # ，",
            "# １，２\nx = '，'  # ，",
            "line 2: ＝ (U+FF1D) was read as =",
        ),
        ('"""\n“，”\n"""\nx，y', '"""\n“，”\n"""\nx,y', "line 4: ， (U+FF0C) was read as ,"),
    ],
)
def test_a_character_that_python_refuses_is_read_as_what_was_meant(
    text: str, means: str, named: str
) -> None:
    python, notes = script(text, replace=True)
    assert python == means
    assert notes[0] == named


def test_without_replacing_the_character_its_line_and_the_remedy_are_named() -> None:
    text = "x\u00a0= 1\ny\u00a0= 2\n"
    assert script(text) == (text, ["lines 1, 2: U+00A0 is refused by Python: write a space"])


def test_the_cells_of_a_notebook_are_mended_too() -> None:
    read = run({"text": notebook("x\u00a0= 1"), "replace": True})
    assert read["source"] == "# %% cell 1\nx = 1\n"
    assert read["notes"] == ["cell 1: line 1: U+00A0 was read as a space"]


def test_many_quotes_that_curl_are_read_in_time_that_grows_with_the_text() -> None:
    python, _ = script("“" * 50_000 + "\n" + "‘a" * 20_000, replace=True)
    assert "“" not in python
