"""In one container: what a submission does to it, the next one cannot see.

Each pair is a writer, which tries to leave a message, and a reader, which says what it sees. The
reader has to see what it sees in a container in which no writer has been.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import docker
import pytest

from harness.sandbox.container.images import Image
from harness.sandbox.container.sandbox import ContainerSandbox
from tests.sandbox.conftest import LIMITS, Driver

pytestmark = pytest.mark.docker

_IMPORTS = (
    "import array, builtins, ctypes, fcntl, gc, os, random, resource, signal, socket, sys, time\n"
    "import numpy as np\n"
    "def attempt(action):\n"
    " try:\n"
    "  return action()\n"
    " except OSError as error:\n"
    "  return type(error).__name__\n"
)

#: What is passed on -> how it is written, and what a reader sees of it.
PAIRS = {
    "scratch file": ("open('/tmp/message', 'w').write('x')", "os.listdir('/tmp')"),
    "shared memory": ("open('/dev/shm/message', 'w').write('x')", "os.listdir('/dev/shm')"),
    "mode of scratch": (
        "os.chmod('/tmp', 0o777), os.chmod('/dev/shm', 0o555)",
        "[oct(os.stat(path).st_mode) for path in ('/tmp', '/dev/shm')]",
    ),
    "times of scratch": (
        "[os.utime(path, (12345, 67890)) for path in ('/tmp', '/dev/shm')]",
        "[(os.stat(path).st_atime, os.stat(path).st_mtime) for path in ('/tmp', '/dev/shm')]",
    ),
    "mode of the streams": (
        "[attempt(lambda: os.fchmod(stream, 0)) for stream in range(3)]",
        "[oct(os.fstat(stream).st_mode) for stream in range(3)]",
    ),
    "times of the streams": (
        "[attempt(lambda: os.utime(stream, (12345, 67890))) for stream in range(3)]",
        "[(os.fstat(stream).st_atime == 12345, os.fstat(stream).st_mtime == 67890)"
        " for stream in range(3)]",
    ),
    "flags of the streams": (
        "[fcntl.fcntl(stream, fcntl.F_SETFL, os.O_NONBLOCK | os.O_ASYNC | os.O_APPEND)"
        " for stream in range(3)]",
        "[fcntl.fcntl(stream, fcntl.F_GETFL) for stream in range(3)]",
    ),
    "signal of the streams": (
        "[fcntl.fcntl(stream, 10, 44) for stream in range(3)]",  # F_SETSIG, F_GETSIG
        "[fcntl.fcntl(stream, 11) for stream in range(3)]",
    ),
    "owner of the streams": (
        "[attempt(lambda: fcntl.fcntl(stream, fcntl.F_SETOWN, os.getpid()))"
        " for stream in range(3)]",
        "[fcntl.fcntl(stream, fcntl.F_GETOWN) for stream in range(3)]",
    ),
    "size of the pipe": (
        "[attempt(lambda: fcntl.fcntl(stream, 1031, 8192)) for stream in (1, 2)]",
        "[attempt(lambda: fcntl.fcntl(stream, 1032)) for stream in (1, 2)]",
    ),
    "streams by name": (
        "[attempt(lambda: os.fchmod(stream, 0)) for stream in (1, 2)]",
        "[attempt(lambda: open(path, 'w').close()) for path in ('/dev/stdout', '/dev/stderr')]",
    ),
    "lock": (
        "fcntl.flock(os.open('/tmp', os.O_RDONLY), fcntl.LOCK_EX), os.fork() or time.sleep(99)",
        "attempt(lambda: fcntl.flock(os.open('/tmp', os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB))",
    ),
    "process": (
        "os.fork() or (os.setsid(), time.sleep(99))",
        "len([name for name in os.listdir('/proc') if name.isdigit()])",
    ),
    "limits": (
        "resource.setrlimit(resource.RLIMIT_NOFILE, (99, 99))",
        "resource.getrlimit(resource.RLIMIT_NOFILE)",
    ),
    "file mode mask": ("os.umask(0o777)", "oct(os.umask(0o22))"),
    "signals": (
        "signal.signal(signal.SIGUSR1, signal.SIG_IGN),"
        " signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])",
        "str(signal.getsignal(signal.SIGUSR1)),"
        " signal.pthread_sigmask(signal.SIG_BLOCK, []) == set()",
    ),
    "environment": ("os.environ.update(MESSAGE='x')", "sorted(os.environ)"),
    "module": (
        "setattr(np, 'message', 1), setattr(builtins, 'message', 1)",
        "hasattr(np, 'message'), hasattr(builtins, 'message')",
    ),
    "random state": ("np.random.seed(7), random.seed(7)", "np.random.get_state()[1][:3].tolist()"),
    "open files": (
        "[os.open('/tmp', os.O_RDONLY) for _ in range(50)]",
        "os.listdir('/proc/self/fd')",
    ),
}


@pytest.fixture(scope="module")
def reused(engine: docker.DockerClient, image: Image) -> Iterator[Driver]:
    sandbox = ContainerSandbox(client=engine, image=image, limits=LIMITS)
    yield Driver(sandbox)
    sandbox.close()


def _seen(driver: Driver, reader: str) -> object:
    driver.load(f"{_IMPORTS}def read(): return repr(({reader}))")
    seen = driver.value("read")
    driver.sandbox.log()
    return seen


@pytest.mark.parametrize("channel", PAIRS)
def test_a_submission_leaves_the_next_no_message(reused: Driver, channel: str) -> None:
    writer, reader = PAIRS[channel]
    before = _seen(reused, reader)
    reused.load(f"{_IMPORTS}def write():\n {writer}\n return 1")
    assert reused.value("write") == 1
    reused.sandbox.log()
    assert _seen(reused, reader) == before


@pytest.mark.parametrize("channel", PAIRS)
def test_a_writer_is_seen_while_it_lives(reused: Driver, channel: str) -> None:
    """A pair whose writer fails, or whose reader looks elsewhere, would prove nothing."""
    writer, reader = PAIRS[channel]
    before = _seen(reused, reader)
    reused.load(f"{_IMPORTS}def both():\n {writer}\n return repr(({reader}))")
    assert reused.value("both") != before
    reused.sandbox.log()


def test_attributes_of_a_folder_cannot_be_set(reused: Driver) -> None:
    reused.load(
        f"{_IMPORTS}def write():\n"
        " scratch = os.open('/tmp', os.O_RDONLY)\n"
        " return attempt(lambda: fcntl.ioctl(scratch, 0x40086602, bytes([0xC0] + [0] * 7)))"
    )
    assert reused.value("write") == "PermissionError"  # FS_IOC_SETFLAGS


def test_only_pairs_of_unix_sockets_can_be_made(reused: Driver) -> None:
    reused.load(
        f"{_IMPORTS}def made():\n"
        " libc = ctypes.CDLL(None, use_errno=True)\n"
        " ends, refusals = (ctypes.c_int * 2)(), set()\n"
        " socket.socketpair()\n"
        " for family in range(2, 46):\n"
        "  refusals.add((libc.socketpair(family, 1, 0, ends), ctypes.get_errno()))\n"
        " return str(refusals)"
    )
    assert reused.value("made") == "{(-1, 1)}"


def test_containers_are_of_users_of_their_own(engine: docker.DockerClient, image: Image) -> None:
    users = set()
    for _ in range(3):
        sandbox = ContainerSandbox(client=engine, image=image, limits=LIMITS)
        with contextlib.closing(sandbox):
            driver = Driver(sandbox)
            driver.load("import os\ndef user(): return os.getuid()")
            users.add(driver.value("user"))
    assert len(users) > 1  # three equal ones are a chance of one in nine million
