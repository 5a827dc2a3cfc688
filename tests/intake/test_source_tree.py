import io
import os
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.errors import Refused
from harness.intake.source_tree import (
    ENTRIES_CAP,
    FILE_CAP,
    FILES_CAP,
    Entry,
    gather,
    path_parts,
    read_archive,
    read_folder,
    require_portable,
)
from harness.parsing.client import Parser

LEADING_ELSEWHERE = [
    "../x.py",
    "../../etc/cron.d/x.py",
    "a/../../x.py",
    "a/..",
    "/etc/passwd",
    "//host/share/x.py",
    "C:/x.py",
    "c:x.py",
    "..\\x.py",
    "a\\b.py",
    "\\\\host\\x.py",
    "x.py\0.txt",
    "a/" * 17 + "x.py",
]
NOT_PORTABLE = [
    "CON.py",
    "nul.tar.py",
    "Com1.py",
    "a/aux/x.py",
    "x.py:stream.py",
    "a /x.py",
    "a./x.py",
    "new\nline.py",
    "esc\x1b[2J.py",
    "bell\x07.py",
    "\u202egnp.py",
    "zero\u200bwidth.py",
    "tab\t.py",
    "what?.py",
    "st*r.py",
    "x" * 253 + ".py",
]


@pytest.fixture(scope="module")
def parser() -> Iterator[Parser]:
    with Parser() as one:
        yield one


def zipped(*names: str, data: bytes = b"x = 1\n") -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            info = zipfile.ZipInfo()
            info.filename = name  # The constructor would cut the name at a NUL.
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, data)
    return packed.getvalue()


def tarred(*members: tarfile.TarInfo | str, form: str = "") -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=f"w:{form}", format=tarfile.PAX_FORMAT) as archive:
        for member in members:
            info = tarfile.TarInfo(member) if isinstance(member, str) else member
            info.size = 6 if info.isreg() else 0
            archive.addfile(info, io.BytesIO(b"x = 1\n"))
    return packed.getvalue()


def member(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


@pytest.mark.parametrize("name", LEADING_ELSEWHERE, ids=ascii)
def test_a_name_that_leads_elsewhere_ends_the_submission(name: str) -> None:
    for kind in ("file", "folder", "hidden"):
        with pytest.raises(Refused) as refused:
            gather([Entry(name=name, kind=kind, data=b"")])
        assert str(refused.value).isprintable()


@pytest.mark.parametrize("name", NOT_PORTABLE, ids=ascii)
def test_code_with_a_name_that_some_system_cannot_have_is_refused(name: str) -> None:
    with pytest.raises(Refused) as refused:
        gather([Entry(name=name, kind="file", data=b"")])
    assert str(refused.value).isprintable()


@pytest.mark.parametrize("name", [n for n in LEADING_ELSEWHERE if n != "a\\b.py"], ids=ascii)
def test_a_zip_with_a_name_that_leads_elsewhere_is_refused(parser: Parser, name: str) -> None:
    with pytest.raises(Refused):
        read_archive(zipped("good.py", name), "zip", parser)


@pytest.mark.parametrize("name", [n for n in LEADING_ELSEWHERE if "\0" not in n], ids=ascii)
def test_a_tar_with_a_name_that_leads_elsewhere_is_refused(parser: Parser, name: str) -> None:
    with pytest.raises(Refused):
        read_archive(tarred("good.py", name), "tar", parser)


@pytest.mark.parametrize(
    "name", ["a.py", "./a.py", "李雷.py", "a b-c (2).py", "console.py", "deep/er/a.py"]
)
def test_ordinary_names_are_kept(name: str) -> None:
    require_portable(path_parts(name))
    assert len(gather([Entry(name=name, kind="file", data=b"")]).files) == 1


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (tarfile.SYMTYPE, "a symbolic link"),
        (tarfile.LNKTYPE, "a hard link"),
        (tarfile.FIFOTYPE, "a pipe, socket or device"),
        (tarfile.CHRTYPE, "a pipe, socket or device"),
        (tarfile.BLKTYPE, "a pipe, socket or device"),
    ],
)
@pytest.mark.parametrize("name", ["a.py", "notes.txt", "folder"])
def test_a_tar_member_that_is_no_plain_file_is_refused(
    parser: Parser, name: str, kind: bytes, said: str
) -> None:
    data = tarred("good.py", member(name, kind, "/etc/passwd"))
    with pytest.raises(Refused) as refused:
        read_archive(data, "tar", parser)
    assert str(refused.value) == f"{name} is {said}, expected a plain file"


def test_a_sparse_tar_member_is_refused(parser: Parser) -> None:
    info = member("a.py", tarfile.REGTYPE)
    info.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.size": "6"}
    with pytest.raises(Refused):
        read_archive(tarred(info), "tar", parser)


def test_a_symbolic_link_in_a_zip_is_refused(parser: Parser) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        info = zipfile.ZipInfo("a.py")
        info.external_attr = 0o120777 << 16
        archive.writestr(info, "/etc/passwd")
    with pytest.raises(Refused, match=r"a\.py is a symbolic link"):
        read_archive(packed.getvalue(), "zip", parser)


def test_an_encrypted_zip_is_refused(parser: Parser) -> None:
    data = bytearray(zipped("a.py"))
    data[data.index(b"PK\x01\x02") + 8] |= 1  # the flag bits of the central entry
    data[6] |= 1
    with pytest.raises(Refused, match=r"a\.py is encrypted"):
        read_archive(bytes(data), "zip", parser)


def test_a_zip_that_must_be_unpacked_all_at_once_is_refused(parser: Parser) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("a.py", b"x")
    with pytest.raises(Refused, match="method other than deflate"):
        read_archive(packed.getvalue(), "zip", parser)


@pytest.mark.parametrize("form", ["zip", "tar", "gz", "bz2", "xz"])
def test_every_archive_gives_the_same_tree_as_the_folder(
    parser: Parser, tmp_path: Path, form: str
) -> None:
    names = ["top/pkg/__init__.py", "top/a.py", "top/README.md", "top/.git/config", "top/n.ipynb"]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"x = 1\n")
    packing = form if form not in ("zip", "tar") else ""
    data = zipped(*names) if form == "zip" else tarred(*names, form=packing)
    tree = read_archive(data, form, parser)
    assert sorted(file.name for file in tree.files) == [
        "top/a.py",
        "top/n.ipynb",
        "top/pkg/__init__.py",
    ]
    assert {file.data for file in tree.files} == {b"x = 1\n"}
    assert tree.left_out == 1
    assert set(read_folder(tmp_path).files) == set(tree.files)


@pytest.mark.parametrize("form", ["zip", "tar", "gz", "bz2", "xz"])
@pytest.mark.parametrize("data", [b"", b"nonsense" * 200, b"PK\x05\x06" + b"\xff" * 18], ids=len)
def test_what_is_no_archive_is_refused(parser: Parser, form: str, data: bytes) -> None:
    with pytest.raises(Refused, match="the archive is not a readable archive"):
        read_archive(data, form, parser)


@pytest.mark.parametrize("form", ["zip", "gz", "bz2", "xz"])
def test_a_truncated_archive_is_refused(parser: Parser, form: str) -> None:
    whole = zipped("a.py") if form == "zip" else tarred("a.py", form=form)
    with pytest.raises(Refused):
        read_archive(whole[: len(whole) // 2], form, parser)


def test_folders_that_wrap_all_files_stay_so_that_imports_work() -> None:
    names = ["models/layers/heads.py", "models/attention.py"]
    tree = gather(Entry(name=name, kind="file", data=b"") for name in names)
    assert [file.name for file in tree.files] == names


def test_a_zip_with_backslashes_is_read_as_windows_meant_it(parser: Parser) -> None:
    tree = read_archive(zipped("work\\", "work\\a.py"), "zip", parser)
    assert [file.name for file in tree.files] == ["work/a.py"]


@pytest.mark.parametrize("form", ["zip", "tar", "folder"])
def test_a_virtual_environment_is_passed_over_whatever_its_name(
    parser: Parser, tmp_path: Path, form: str
) -> None:
    inside = ["my/pyvenv.cfg", "my/bin/activate_this.py", "my/lib/site-packages/numpy.py"]
    names = ["a.py", *inside, *(f"venv/lib/m{number}.py" for number in range(300))]
    if form == "folder":
        for name in names:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_bytes(b"")
        tree = read_folder(tmp_path)
    else:
        tree = read_archive(zipped(*names) if form == "zip" else tarred(*names), form, parser)
    assert [file.name for file in tree.files] == ["a.py"]


def test_an_ending_in_capitals_becomes_one_that_python_imports() -> None:
    tree = gather([Entry(name="Alice.PY", kind="file", data=b"")])
    assert [file.name for file in tree.files] == ["Alice.py"]


def test_what_is_hidden_is_passed_over_whatever_it_is() -> None:
    names = [".git/hooks/x.py", ".venv/bin/python", "__pycache__/a.py", "__MACOSX/._a.py", "._a.py"]
    tree = gather(Entry(name=name, kind="a symbolic link") for name in names)
    assert tree.files == ()
    assert tree.left_out == 0


def test_two_names_that_some_system_takes_for_one_are_refused() -> None:
    entries = [Entry(name=name, kind="file", data=b"") for name in ("A.py", "a.PY")]
    with pytest.raises(Refused, match=r"two files named A\.py"):
        gather(entries)


def test_more_files_than_allowed_are_refused() -> None:
    entries = [Entry(name=f"a{n}.py", kind="file", data=b"") for n in range(FILES_CAP + 1)]
    assert len(gather(entries[:-1]).files) == FILES_CAP
    with pytest.raises(Refused, match="more than 20 Python files"):
        gather(entries)


def test_more_files_than_allowed_in_an_archive_are_refused(parser: Parser) -> None:
    with pytest.raises(Refused, match="more than 20 Python files"):
        read_archive(zipped(*(f"a{n}.py" for n in range(30))), "zip", parser)


@pytest.mark.parametrize("ending", ["txt", "py"])
def test_more_entries_than_allowed_are_refused(tmp_path: Path, parser: Parser, ending: str) -> None:
    names = [f"{n}.{ending}" for n in range(ENTRIES_CAP + 1)]
    for name in names:
        (tmp_path / name).touch()
    with pytest.raises(Refused, match="more than"):
        read_folder(tmp_path)
    with pytest.raises(Refused, match="more than"):
        read_archive(zipped(*names), "zip", parser)


def test_a_hundred_thousand_entries_in_a_small_zip_are_refused(parser: Parser) -> None:
    with pytest.raises(Refused, match="more than 10,000 entries"):
        read_archive(b"PK\x01\x02" * 100_000, "zip", parser)


def test_a_file_over_its_cap_is_refused_in_every_form(tmp_path: Path, parser: Parser) -> None:
    big = os.urandom(FILE_CAP + 1)
    (tmp_path / "a.py").write_bytes(big)
    with pytest.raises(Refused, match=r"a\.py is larger than 256 KiB"):
        read_folder(tmp_path)
    with pytest.raises(Refused, match=r"a\.py is larger than 256 KiB"):
        read_archive(zipped("a.py", data=big), "zip", parser)


def test_deep_folders_are_refused(tmp_path: Path) -> None:
    deep = tmp_path
    for _ in range(100):
        deep /= "d"
        deep.mkdir()
    with pytest.raises(Refused, match="nested more than 16 deep"):
        read_folder(tmp_path)


@pytest.mark.skipif(os.name != "posix", reason="needs a POSIX file system")
@pytest.mark.parametrize("target", ["../secret.py", "../outside", "/etc"])
def test_a_link_in_a_folder_is_refused_and_what_it_points_to_unread(
    tmp_path: Path, target: str
) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "secret.py").write_text("CANARY = 1")
    (tmp_path / "alice").mkdir()
    (tmp_path / "alice" / "a.py").write_text("x = 1")
    (tmp_path / "alice" / "b.py").symlink_to(target)
    with pytest.raises(Refused, match=r"b\.py is a symbolic link") as refused:
        read_folder(tmp_path / "alice")
    assert "CANARY" not in str(refused.value)
