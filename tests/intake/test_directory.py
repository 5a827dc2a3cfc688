import os
import socket
from pathlib import Path

import pytest

from harness.errors import Refused
from harness.intake.directory import Folder, read_file

posix = pytest.mark.skipif(os.name != "posix", reason="needs a POSIX file system")
CAP = 1000


@pytest.fixture(params=["flags", "no flags"], autouse=True)
def _both_kinds_of_system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run every test as on POSIX, then as on a system without O_NOFOLLOW and folder descriptors."""
    if request.param == "no flags":
        for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_DIRECTORY", "O_CLOEXEC"):
            monkeypatch.delattr(os, name, raising=False)
        monkeypatch.setattr(os, "supports_dir_fd", set())


def refusal(path: Path) -> str:
    with pytest.raises(Refused) as alone:
        read_file(path, CAP)
    with pytest.raises(Refused) as inside, Folder.open(path.parent) as folder:
        folder.read(path.name, CAP)
    assert str(alone.value) == str(inside.value)
    return str(alone.value)


def test_a_file_is_read_alone_and_in_its_folder(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"x" * CAP)
    assert read_file(tmp_path / "a.py", CAP) == b"x" * CAP
    with Folder.open(tmp_path) as folder:
        assert folder.read("a.py", CAP) == b"x" * CAP
        assert folder.names(5) == ["a.py"]


@posix
def test_a_symbolic_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("key")
    (tmp_path / "a.py").symlink_to(tmp_path / "secret")
    assert refusal(tmp_path / "a.py").startswith("a.py is a symbolic link, expected a file")


@posix
def test_a_hard_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("key")
    (tmp_path / "a.py").hardlink_to(tmp_path / "secret")
    assert refusal(tmp_path / "a.py").startswith("a.py is a hard link, expected a file")


@posix
def test_a_pipe_is_refused_without_waiting_for_a_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.py")
    assert "is a pipe, socket or device" in refusal(tmp_path / "a.py")


@posix
def test_a_socket_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # A socket's path may have 107 bytes.
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("a.py")
        assert "is a pipe, socket or device" in refusal(tmp_path / "a.py")


@posix
def test_a_device_is_refused() -> None:
    assert "is a pipe, socket or device" in refusal(Path("/dev/zero"))


def test_a_folder_is_refused_where_a_file_is_expected(tmp_path: Path) -> None:
    (tmp_path / "a.py").mkdir()
    assert refusal(tmp_path / "a.py").startswith("a.py is a folder, expected a file")


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path / "a.py") == "a.py cannot be read: No such file or directory"


def test_a_file_over_its_cap_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"x" * (CAP + 1))
    assert "is larger than" in refusal(tmp_path / "a.py")


@posix
def test_a_sparse_giant_is_refused_unread(tmp_path: Path) -> None:
    with (tmp_path / "a.py").open("wb") as file:
        file.truncate(4 << 40)
    assert "is larger than" in refusal(tmp_path / "a.py")


@pytest.mark.skipif(not Path("/proc/kallsyms").exists(), reason="needs Linux's /proc")
def test_a_file_that_is_longer_than_it_says_is_refused() -> None:
    assert Path("/proc/kallsyms").stat().st_size == 0
    assert "is larger than" in refusal(Path("/proc/kallsyms"))


@posix
def test_a_link_to_a_folder_is_not_entered(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    with pytest.raises(Refused, match="link is a symbolic link, expected a folder"):
        Folder.open(tmp_path / "link")
    with Folder.open(tmp_path) as folder, pytest.raises(Refused, match="is a symbolic link"):
        folder.folder("link")


@posix
def test_a_file_swapped_for_another_between_look_and_open_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.py").write_text("x")
    (tmp_path / "b.py").write_text("secret")
    really_open = os.open

    def swap_then_open(where: str, flags: int, **kwargs: int | None) -> int:
        (tmp_path / "b.py").replace(tmp_path / "a.py")
        return really_open(where, flags, **kwargs)

    monkeypatch.setattr(os, "open", swap_then_open)
    with pytest.raises(Refused, match="was replaced while it was read"):
        read_file(tmp_path / "a.py", CAP)


@posix
def test_a_file_swapped_for_a_pipe_between_look_and_open_does_not_hang(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not hasattr(os, "O_NONBLOCK"):
        pytest.skip("pipes that block on open are POSIX's, and so is O_NONBLOCK")
    (tmp_path / "a.py").write_text("x")
    really_open = os.open

    def swap_then_open(where: str, flags: int, **kwargs: int | None) -> int:
        (tmp_path / "a.py").unlink()
        os.mkfifo(tmp_path / "a.py")
        return really_open(where, flags, **kwargs)

    monkeypatch.setattr(os, "open", swap_then_open)
    with pytest.raises(Refused, match="is a pipe"):
        read_file(tmp_path / "a.py", CAP)


@posix
def test_a_folder_stays_the_one_that_was_opened(tmp_path: Path) -> None:
    if not hasattr(os, "O_NOFOLLOW"):
        pytest.skip("without folder descriptors a folder is known by its path only")
    (tmp_path / "alice").mkdir()
    (tmp_path / "alice" / "a.py").write_text("hers")
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "a.py").write_text("key")
    with Folder.open(tmp_path / "alice") as folder:
        (tmp_path / "alice").rename(tmp_path / "moved")
        (tmp_path / "alice").symlink_to("secret")
        assert folder.read("a.py", CAP) == b"hers"


@posix
def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.py").write_text("x")
    before = len(list(Path("/dev/fd").iterdir()))
    for _ in range(5):
        with Folder.open(tmp_path) as folder, folder.folder("in") as inner:
            inner.read("a.py", CAP)
            inner.names(5)
            with pytest.raises(Refused):
                inner.read("b.py", CAP)
    assert len(list(Path("/dev/fd").iterdir())) == before
