"""The parts that can be tried alone; as PID 1 it is tried by the conformance suite."""

import contextlib
import os
import socket
import struct
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.worker import processes, wire
from harness.worker.exchange import Ended, Reply

CAP = 1000


@pytest.fixture
def ends():
    ours, theirs = socket.socketpair()
    yield ours, theirs
    ours.close()
    theirs.close()


def test_a_reply_ends_where_its_prefix_says_and_no_byte_later(ends):
    ours, theirs = ends
    frame = wire.pack({"id": "x"}, [b"payload"])
    theirs.send(frame + b"more")
    reply = Reply(CAP)
    while reply.complete is None:
        assert reply.read_from(ours)
    assert reply.complete == frame
    assert ours.recv(10) == b"more"


def test_a_reply_arrives_however_it_is_cut(ends):
    ours, theirs = ends
    frame = wire.pack({"id": "x"}, [b"payload"])
    reply = Reply(CAP)
    for byte in frame:
        assert reply.complete is None
        assert not reply.read_from(ours)
        theirs.send(bytes([byte]))
        assert reply.read_from(ours)
    assert reply.complete == frame


@pytest.mark.parametrize(
    "prefix",
    [
        struct.pack("<4sIQ", b"NOPE", 2, 0),
        struct.pack("<4sIQ", wire.SUPERVISOR, 2, 0),
        struct.pack("<4sIQ", wire.WORKER, wire.HEADER_CAP + 1, 0),
        struct.pack("<4sIQ", wire.WORKER, 2, CAP + 1),
        struct.pack("<4sIQ", wire.WORKER, 2, (1 << 64) - 1),
    ],
)
def test_a_prefix_that_lies_is_a_violation(ends, prefix):
    ours, theirs = ends
    theirs.send(prefix)
    with pytest.raises(Ended) as ended:
        Reply(CAP).read_from(ours)
    assert ended.value.how == "protocol_violation"


@given(st.binary(min_size=1, max_size=100))
def test_any_bytes_are_part_of_a_reply_or_a_violation(data):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.send(data)
        reply = Reply(CAP)
        with contextlib.suppress(Ended):
            while reply.complete is None and reply.read_from(ours):
                pass


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "SCRATCH", (str(tmp_path),))
    return tmp_path


@pytest.fixture
def shared(scratch):
    return processes.SharedState()


def test_wiping_removes_everything_and_follows_no_link(scratch, shared, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside")
    (outside / "kept").write_text("x")
    (scratch / "folder" / "inner").mkdir(parents=True)
    (scratch / "folder" / "inner" / "file").write_text("x")
    (scratch / "link").symlink_to(outside)
    (scratch / "folder" / "link").symlink_to(outside)
    os.mkfifo(scratch / "pipe")
    assert shared.restore() == 3
    assert not list(scratch.iterdir())
    assert (outside / "kept").exists()


def test_wiping_what_is_empty_finds_nothing(shared):
    assert shared.restore() == 0


def test_wiping_gives_a_folder_its_mode_back(scratch, shared):
    (scratch / "file").write_text("x")
    before = scratch.stat().st_mode
    scratch.chmod(0)
    assert shared.restore() == 2
    assert scratch.stat().st_mode == before


def test_what_is_too_deep_to_remove_is_unclean(scratch, shared):
    here = os.open(scratch, os.O_RDONLY)
    deepest = here
    for _ in range(1200):
        os.mkdir("d", dir_fd=deepest)
        inner = os.open("d", os.O_RDONLY, dir_fd=deepest)
        os.close(deepest)
        deepest = inner
    os.close(deepest)
    with pytest.raises(processes.Unclean):
        shared.restore()
    # Nor could pytest remove it, and a later session of it would fail over that.
    subprocess.run(["rm", "-rf", f"{scratch}/d"], check=True)


def test_its_own_state_is_the_same_until_it_is_changed():
    before = processes.own_state()
    assert processes.own_state() == before
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    try:
        assert processes.own_state() != before or len(before[1]) == 1
    finally:
        os.sched_setaffinity(0, before[1])
