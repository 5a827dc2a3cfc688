import bz2
import hashlib
import io
import json
import os
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.errors import Refused
from harness.intake.source_tree import FILE_CAP, HANDED_IN_CAP
from harness.intake.submission import SHOWN_CAP, Submission, load, load_text
from harness.parsing.client import Parser

CODE = b"def attention(q, k, v):\n    return v\n"
posix = pytest.mark.skipif(os.name != "posix", reason="needs a POSIX file system")


@pytest.fixture(scope="module")
def parser() -> Iterator[Parser]:
    with Parser() as one:
        yield one


def notebook(*cells: str) -> bytes:
    code = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    return json.dumps(
        {
            "cells": [{**code, "source": cell} for cell in cells],
            "metadata": {},
            "nbformat": 4,
            "nbformat_minor": 4,
        }
    ).encode()


def written(path: Path, data: bytes = CODE) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def names(submission: Submission) -> list[str]:
    return [file.name for file in submission.files]


def test_a_script_is_read_as_it_is(tmp_path: Path, parser: Parser) -> None:
    found = load(written(tmp_path / "alice.py"), parser)
    assert (found.id, found.entry, found.origin) == ("alice", "alice.py", "script")
    assert found.sha256 == hashlib.sha256(CODE).hexdigest()
    assert found.files[0].data == CODE
    assert found.notes == ()


def test_a_script_needs_no_parser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "harness.parsing.client._start", lambda: pytest.fail("a parser was started")
    )
    assert load(written(tmp_path / "alice.py")).id == "alice"


@pytest.mark.parametrize("name", ["-rf.py", "CON.py", "two\nlines.py", "\u202egnp.py", "a:b.PY"])
@posix
def test_a_strange_name_costs_a_script_nothing(tmp_path: Path, parser: Parser, name: str) -> None:
    found = load(written(tmp_path / name), parser)
    assert found.files[0].data == CODE
    assert found.entry in ("-rf.py", "submission.py")
    assert found.id.isprintable()


@posix
def test_a_name_that_is_not_utf8_costs_a_script_nothing(tmp_path: Path, parser: Parser) -> None:
    path = os.fsencode(tmp_path) + b"/caf\xe9.py"
    try:
        Path(os.fsdecode(path)).write_bytes(CODE)
    except OSError:
        pytest.skip("this file system has UTF-8 names only")
    assert load(Path(os.fsdecode(path)), parser).id == "caf<U+DCE9>"


def test_a_notebook_becomes_a_python_file(tmp_path: Path, parser: Parser) -> None:
    data = notebook("%matplotlib inline\nimport numpy as np", CODE.decode())
    found = load(written(tmp_path / "bob.ipynb", data), parser)
    assert (found.id, found.entry, found.origin) == ("bob", "bob.py", "notebook")
    assert found.sha256 == hashlib.sha256(data).hexdigest()
    assert b"# %% cell 2\n" + CODE in found.files[0].data
    assert found.notes == (
        "code cells joined: 2",
        "cell 1: %matplotlib inline was left out",
    )


def test_a_line_of_a_notebook_is_traced_to_its_cell(tmp_path: Path, parser: Parser) -> None:
    found = load(written(tmp_path / "b.ipynb", notebook("x = 1", "y = 2\nraise E")), parser)
    lines = found.files[0].data.decode().split("\n")
    assert found.place(lines.index("raise E") + 1) == "cell 2, line 2"
    assert found.place(lines.index("x = 1") + 1) == "cell 1, line 1"
    assert found.place(10**9) == "cell 2, line 3"


def test_a_line_of_a_script_is_a_line(tmp_path: Path, parser: Parser) -> None:
    found = load(written(tmp_path / "a.py", b"# %% cell 7\nx = 1\n"), parser)
    assert found.place(2) == "line 2"


def test_a_notebook_with_large_outputs_is_read(tmp_path: Path, parser: Parser) -> None:
    heavy = json.loads(notebook("x = 1"))
    picture = {
        "data": {"image/png": "A" * (6 << 20)},
        "metadata": {},
        "output_type": "display_data",
    }
    heavy["cells"][0]["outputs"] = [picture]
    found = load(written(tmp_path / "b.ipynb", json.dumps(heavy).encode()), parser)
    assert found.files[0].data == b"# %% cell 1\nx = 1\n"


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"{}", "b.ipynb is not a readable notebook"),
        (b"\xff{}", "b.ipynb is not UTF-8"),
        (notebook(), "b.ipynb has no code cell"),
        (notebook("x = '" + "é" * FILE_CAP + "'"), "the code in b.ipynb is larger than 256 KiB"),
        (notebook("x = '\ud800'"), "b.ipynb cannot be parsed"),
        (notebook("x = '\0'"), "b.ipynb has a NUL character"),
        (b" " * (HANDED_IN_CAP + 1), "b.ipynb is larger than 8,192 KiB"),
    ],
    ids=["empty", "latin-1", "no cells", "long code", "surrogate", "nul", "large"],
)
def test_an_unsound_notebook_is_refused(
    tmp_path: Path, parser: Parser, data: bytes, why: str
) -> None:
    with pytest.raises(Refused) as refused:
        load(written(tmp_path / "b.ipynb", data), parser)
    assert str(refused.value).startswith(why)


def test_a_folder_is_read_with_its_siblings(tmp_path: Path, parser: Parser) -> None:
    for name in ("attn.py", "parts/__init__.py", "tests/test_attn.py", "setup.py", "conftest.py"):
        written(tmp_path / "carol" / name)
    written(tmp_path / "carol" / "weights.npy", b"\x93NUMPY" + bytes(2 << 20))
    found = load(tmp_path / "carol", parser)
    assert (found.id, found.entry) == ("carol", "attn.py")
    assert names(found) == [
        "attn.py", "conftest.py", "parts/__init__.py", "setup.py", "tests/test_attn.py",
    ]  # fmt: skip
    assert found.notes == (
        "attn.py was graded, of 5 files of code",
        "files left out since they are not code: 1",
    )


def test_the_digest_of_a_folder_is_that_of_its_listing(tmp_path: Path, parser: Parser) -> None:
    written(tmp_path / "c" / "attention.py", b"x = 1\n")
    written(tmp_path / "c" / "b.py", b"y = 2\n")
    one, two = (hashlib.sha256(data).hexdigest() for data in (b"x = 1\n", b"y = 2\n"))
    listing = f"{one}  attention.py\n{two}  b.py\n"
    assert load(tmp_path / "c", parser).sha256 == hashlib.sha256(listing.encode()).hexdigest()


def test_a_notebook_beside_its_export_keeps_both_apart(tmp_path: Path, parser: Parser) -> None:
    written(tmp_path / "d" / "work.py", b"print('no definitions')\n")
    written(tmp_path / "d" / "work.ipynb", notebook(CODE.decode()))
    found = load(tmp_path / "d", parser)
    assert (found.origin, names(found)) == ("notebook", ["work_notebook.py", "work.py"])


def test_a_broken_file_that_is_not_chosen_costs_nothing(tmp_path: Path, parser: Parser) -> None:
    written(tmp_path / "d" / "solution.py")
    written(tmp_path / "d" / "scratch.ipynb", b"not a notebook")
    found = load(tmp_path / "d", parser)
    assert names(found) == ["solution.py"]
    assert "scratch.ipynb was left out" in found.notes


def test_the_content_decides_when_names_do_not(tmp_path: Path, parser: Parser) -> None:
    written(tmp_path / "d" / "heads.py")
    written(tmp_path / "d" / "mha.py", b"from heads import attention\n" + CODE)
    written(tmp_path / "d" / "plots.py", b"import heads\nprint(1)\n")
    assert load(tmp_path / "d", parser).entry == "mha.py"


def test_an_archive_is_read_without_touching_the_disk(tmp_path: Path, parser: Parser) -> None:
    path = tmp_path / "erin.ZIP"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("erin-main/solution.py", CODE)
        archive.writestr("erin-main/helpers/masks.py", b"x = 1\n")
        archive.writestr("__MACOSX/erin-main/._solution.py", b"\0\0\0")
    before = sorted(tmp_path.rglob("*"))
    found = load(path, parser)
    assert (found.id, names(found)) == (
        "erin",
        ["erin-main/solution.py", "erin-main/helpers/masks.py"],
    )
    assert found.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert sorted(tmp_path.rglob("*")) == before


def test_a_bomb_of_10_gb_is_refused_long_before_the_deadline(
    tmp_path: Path, parser: Parser
) -> None:
    info = tarfile.TarInfo("a.py")
    info.size = 10 << 30
    zeros = bz2.compress(bytes(8 << 20))
    bomb = bz2.compress(info.tobuf()) + zeros * 1280
    with pytest.raises(Refused, match="unpacks to more than 200 times its size"):
        load(written(tmp_path / "bomb.tar.bz2", bomb), parser)


def test_nothing_of_a_submission_is_executed(tmp_path: Path, parser: Parser) -> None:
    marker = tmp_path / "marker"
    evil = f"open({str(marker)!r}, 'w')\n".encode()
    for name in ("solution.py", "setup.py", "conftest.py", "sitecustomize.py", "json.py"):
        written(tmp_path / "d" / name, evil)
    written(tmp_path / "d" / "Makefile", b"all:\n\ttouch marker\n")
    written(tmp_path / "d" / "b.ipynb", notebook(evil.decode(), f"!touch {marker}"))
    written(tmp_path / "d" / ".git" / "config", f"[core]\nfsmonitor = touch {marker}".encode())
    load(tmp_path / "d", parser).shown(parser)
    assert not marker.exists()


@posix
def test_links_and_pipes_are_refused(tmp_path: Path, parser: Parser) -> None:
    written(tmp_path / "secret.py", b"CANARY = 1\n")
    written(tmp_path / "folder" / "a.py")
    (tmp_path / "link.py").symlink_to("secret.py")
    (tmp_path / "link").symlink_to("folder")
    (tmp_path / "hard.py").hardlink_to(tmp_path / "secret.py")
    os.mkfifo(tmp_path / "pipe.py")
    os.mkfifo(tmp_path / "pipe.zip")
    for name in ("link.py", "link", "hard.py", "secret.py", "pipe.py", "pipe.zip"):
        with pytest.raises(Refused, match=r"link|pipe"):
            load(tmp_path / name, parser)


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("a.py", b"x\0", "a.py has a NUL"),
        ("a.py", b"# coding: rot13\n", "a.py says its coding is"),
        ("a.py", b"#" * (FILE_CAP + 1), "a.py is larger than 256 KiB"),
        ("a.txt", b"x", "a.txt is of no known kind, expected a folder or one of .py, .ipynb, .zip"),
        ("a.zip", b"x", "the archive is not a readable archive"),
        ("a.zip/b.txt", b"x", "the submission has no Python file or notebook"),
        ("a/solution.py", b"\xff", "solution.py is not UTF-8"),
    ],
)
def test_what_cannot_be_graded_is_refused_in_one_line(
    tmp_path: Path, parser: Parser, name: str, data: bytes, why: str
) -> None:
    written(tmp_path / name, data)
    with pytest.raises(Refused) as refused:
        load(tmp_path / name.split("/")[0], parser)
    assert str(refused.value).startswith(why)
    assert str(refused.value).isprintable()


def test_a_missing_file_is_refused(tmp_path: Path, parser: Parser) -> None:
    with pytest.raises(Refused, match=r"a\.py cannot be read: No such file"):
        load(tmp_path / "a.py", parser)


def test_the_card_shows_hidden_characters_and_the_notes_name_them(
    tmp_path: Path, parser: Parser
) -> None:
    data = "x = 1\r\ny = '\u202e'  # é\r\n".encode()
    found = load(written(tmp_path / "a.py", data), parser)
    (shown,) = found.shown(parser)
    assert shown.text == "x = 1\ny = '<U+202E>'  # é\n"
    assert "&lt;U+202E&gt;" in shown.html
    assert found.notes == ("line 2 has the hidden character U+202E",)
    assert found.files[0].data == data.replace(b"\r\n", b"\n")


def test_another_encoding_reaches_the_sandbox_as_utf8(tmp_path: Path, parser: Parser) -> None:
    text = "# -*- coding: gbk -*-\ndef attention(q): ...  # 注意力\n"
    found = load(written(tmp_path / "a.py", text.encode("gbk")), parser)
    assert found.files[0].data == text.encode()


def test_refused_characters_are_replaced_when_adapting_and_named_otherwise(
    tmp_path: Path, parser: Parser
) -> None:
    path = written(tmp_path / "a.py", "x\u00a0= 1\n".encode())
    adapted, strict = load(path, parser, adapt=True), load(path, parser)
    assert adapted.files[0].data == b"x = 1\n"
    assert adapted.notes == ("line 1: U+00A0 was read as a space",)
    assert strict.files[0].data == "x\u00a0= 1\n".encode()
    assert strict.notes == ("line 1: U+00A0 is refused by Python: write a space",)


def test_the_card_shows_no_more_than_its_cap(tmp_path: Path, parser: Parser) -> None:
    for number in range(4):
        written(tmp_path / "d" / f"m{number}.py", b"#" * 200_000)
    written(tmp_path / "d" / "solution.py")
    shown = load(tmp_path / "d", parser).shown(parser)
    assert sum(len(file.text) for file in shown) <= SHOWN_CAP
    assert shown[0].text == CODE.decode()


def test_many_notes_are_cut(tmp_path: Path, parser: Parser) -> None:
    found = load(written(tmp_path / "b.ipynb", notebook(*["!ls"] * 100, "x = 1")), parser)
    assert len(found.notes) == 21
    assert found.notes[-1] == "and 81 more notes"


def test_a_tar_of_a_git_repository_is_graded(tmp_path: Path, parser: Parser) -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:xz") as archive:
        for name in ("repo/attention.py", *(f"repo/.git/objects/{n}" for n in range(400))):
            info = tarfile.TarInfo(name)
            info.size = len(CODE)
            archive.addfile(info, io.BytesIO(CODE))
    found = load(written(tmp_path / "fay.tar.xz", packed.getvalue()), parser)
    assert (found.id, names(found), found.notes) == ("fay", ["repo/attention.py"], ())


FORM = b"# Answers\n\n**1 answer:** yes\n"


def test_a_form_is_read_as_it_is_and_shown_question_by_question(
    tmp_path: Path, parser: Parser
) -> None:
    found = load_text(written(tmp_path / "ann.md", FORM))
    assert (found.id, found.entry, found.origin) == ("ann", "ann.md", "text")
    assert found.sha256 == hashlib.sha256(FORM).hexdigest()
    assert found.text == FORM.decode()
    assert found.shown(parser) == ()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"an essay", "ann.md is no form"),
        (b"**1 answer:** \xff", "not UTF-8"),
        (b"**1 answer:** \0", "NUL"),
        (b"**1 answer:** " + b"x" * FILE_CAP, "larger than 256 KiB"),
    ],
)
def test_what_is_no_form_is_refused(tmp_path: Path, data: bytes, said: str) -> None:
    with pytest.raises(Refused, match=said):
        load_text(written(tmp_path / "ann.md", data))


def test_a_folder_is_no_form(tmp_path: Path) -> None:
    (tmp_path / "folder.md").mkdir()
    with pytest.raises(Refused, match="expected a file"):
        load_text(tmp_path / "folder.md")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gbk", "gb18030"])
def test_a_form_is_read_in_the_encodings_of_chinese_editors(tmp_path, encoding):
    text = "**1 answer:** 沿最后一维\n"
    found = load_text(written(tmp_path / "ann.md", text.encode(encoding)))
    assert found.text == text
    assert bool(found.notes) == (not encoding.startswith("utf-8"))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"**1 answer:** a\nb\xff\xff\n", "line 2 of ann.md is not UTF-8"),
        (b"**1 answer:** a\n\nb\0\n", "line 3 of ann.md has a NUL"),
        (b"**1 answer:** " + b"x" * (5 << 20), "ann.md"),
    ],
)
def test_a_form_that_cannot_be_read_is_refused_with_the_line(tmp_path, data, said):
    with pytest.raises(Refused, match=said):
        load_text(written(tmp_path / "ann.md", data))
