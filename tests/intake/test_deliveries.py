import hashlib
import os
from pathlib import Path

import pytest

from harness.errors import Refused, UsageError
from harness.intake.deliveries import Batch, collect
from harness.parsing.client import Parser

posix = pytest.mark.skipif(os.name != "posix", reason="needs a POSIX file system")


def ids(batch: Batch) -> list[str]:
    return [delivery.id for delivery in batch.deliveries]


def test_every_script_notebook_archive_and_folder_is_one_submission(tmp_path: Path) -> None:
    for name in ("a.py", "b.ipynb", "c.zip", "d.tar.gz", "e.tgz", "f.TAR.XZ", "README.md"):
        (tmp_path / name).touch()
    (tmp_path / "g.v2").mkdir()
    batch = collect([tmp_path])
    assert ids(batch) == ["a", "b", "c", "d", "e", "f", "g.v2"]
    assert batch.ignored == ("README.md is not a script, notebook, archive or folder",)


def test_hidden_entries_are_ignored_without_a_word(tmp_path: Path) -> None:
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / ".git").mkdir()
    (tmp_path / ".hidden.py").touch()
    assert collect([tmp_path]) == Batch(deliveries=(), ignored=())


def test_single_makes_a_folder_one_submission(tmp_path: Path) -> None:
    (tmp_path / "team").mkdir()
    (tmp_path / "team" / "attention.py").write_text("x = 1\n")
    (tmp_path / "team" / "masks.py").write_text("y = 2\n")
    assert ids(collect([tmp_path / "team"], single=True)) == ["team"]
    assert ids(collect([tmp_path / "team"])) == ["attention", "masks"]


def test_the_folder_we_are_in_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "team").mkdir()
    monkeypatch.chdir(tmp_path / "team")
    assert ids(collect([Path()], single=True)) == ["team"]


def test_paths_keep_their_order_and_count_once(tmp_path: Path) -> None:
    for name in ("b.py", "a.py"):
        (tmp_path / name).touch()
    paths = [tmp_path / "b.py", tmp_path / "a.py", tmp_path / "b.py"]
    assert ids(collect(paths)) == ["b", "a"]


def test_submissions_of_the_same_name_are_told_apart_by_ending_and_content(
    tmp_path: Path,
) -> None:
    (tmp_path / "alice.py").write_text("x = 1\n")
    (tmp_path / "ALICE.zip").write_bytes(b"not an archive")
    (tmp_path / "alice").mkdir()
    (tmp_path / "bob.py").touch()
    digits = hashlib.sha256(b"x = 1\n").hexdigest()[:6]
    clashing, folder, script, other = ids(collect([tmp_path]))
    assert clashing.startswith("ALICE.zip-")
    assert folder.startswith("alice-")
    assert script == f"alice.py-{digits}"
    assert other == "bob"


def test_copies_of_one_file_in_two_folders_are_numbered(tmp_path: Path) -> None:
    for folder in ("monday", "tuesday"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "alice.py").write_text("x = 1\n")
    first, second = ids(collect([tmp_path / "monday", tmp_path / "tuesday"]))
    assert second == f"{first}-2"


def test_long_names_that_share_their_beginning_stay_apart(tmp_path: Path) -> None:
    for end in "ab":
        (tmp_path / f"{'x' * 100}{end}.py").write_text(f"{end} = 1\n")
    found = ids(collect([tmp_path]))
    assert len(set(found)) == 2
    assert max(map(len, found)) <= 80


@posix
def test_links_and_pipes_are_submissions_that_will_be_refused(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("key")
    (tmp_path / "link.py").symlink_to("secret")
    (tmp_path / "latest").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "fine.py").write_text("x = 1\n")
    batch = collect([tmp_path])
    assert ids(batch) == ["fine", "link", "pipe"]
    assert batch.ignored == (
        "latest is a symbolic link",
        "secret is not a script, notebook, archive or folder",
    )
    outcomes = {}
    with Parser() as parser:
        for delivery in batch.deliveries:
            try:
                outcomes[delivery.id] = delivery.load(parser).entry
            except Refused as refused:
                outcomes[delivery.id] = str(refused)
    assert outcomes == {
        "fine": "fine.py",
        "link": "link.py is a symbolic link, expected a file; hand in the file itself",
        "pipe": "pipe.py is a pipe, socket or device, expected a file; hand in the file itself",
    }


@posix
def test_a_notice_of_an_ignored_entry_is_safe_to_print(tmp_path: Path) -> None:
    (tmp_path / "\x1b[2J\n.txt").touch()
    assert collect([tmp_path]).ignored[0].isprintable()


@pytest.mark.parametrize(("name", "why"), [("gone.py", "No such file"), ("a.txt", "no known kind")])
def test_a_path_that_cannot_be_graded_is_a_mistake_of_the_caller(
    tmp_path: Path, name: str, why: str
) -> None:
    (tmp_path / "a.txt").touch()
    with pytest.raises(UsageError, match=why):
        collect([tmp_path / name])


@posix
def test_a_linked_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    with pytest.raises(UsageError, match="link is a symbolic link"):
        collect([tmp_path / "link"])


def test_nothing_is_read_until_a_submission_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    with monkeypatch.context() as patched:
        patched.setattr("harness.intake.directory._read", lambda *_: pytest.fail("a file was read"))
        batch = collect([tmp_path])
    assert batch.deliveries[0].load().files[0].data == b"x = 1\n"


def test_where_answers_are_written_only_forms_are_submissions(tmp_path: Path) -> None:
    for name in ("a.md", "B.MD", "c.py", "notes.txt"):
        (tmp_path / name).write_text("**1 answer:** yes\n")
    (tmp_path / "folder").mkdir()
    batch = collect([tmp_path], texts=True)
    assert ids(batch) == ["B", "a"]
    assert batch.ignored == (
        "c.py is not a form",
        "folder is not a form",
        "notes.txt is not a form",
    )
    assert [delivery.load().origin for delivery in batch.deliveries] == ["text", "text"]


def test_code_is_no_form_and_a_form_is_no_code(tmp_path: Path) -> None:
    code, text = tmp_path / "a.py", tmp_path / "a.md"
    code.touch()
    text.touch()
    with pytest.raises(UsageError, match=r"expected a folder or one of \.md"):
        collect([code], texts=True)
    with pytest.raises(UsageError, match=r"expected a folder or one of \.py"):
        collect([text])


def test_two_forms_of_one_name_are_told_apart(tmp_path: Path) -> None:
    for folder, text in (("x", "yes"), ("y", "no")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "ann.md").write_text(f"**1 answer:** {text}\n")
    one, other = ids(collect([tmp_path / "x", tmp_path / "y"], texts=True))
    assert one != other
