import json
from typing import Any

import pytest

from harness.parsing.child.notebook_source import run


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
    assert source(cell) == '# %% cell 1\nt = """\n%time\n"""\nx = (7\n  % 3)\npass  # !ls\n'


@pytest.mark.parametrize(
    ("line", "becomes"),
    [
        ("%matplotlib inline", "pass  # %matplotlib inline"),
        ("!pip install -q torch", "pass  # !pip install -q torch"),
        ("np.dot?", "pass  # np.dot?"),
        ("?np.dot", "pass  # ?np.dot"),
        ("%load_ext?", "pass  # %load_ext?"),
        ("files = !ls", "files = None  # files = !ls"),
        ("t = %timeit -o f()", "t = None  # t = %timeit -o f()"),
        ("if True:\n    !ls", "if True:\n    pass  # !ls"),
        ("!pip install \\\n  torch", "pass  # !pip install \\\n#   torch"),
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
