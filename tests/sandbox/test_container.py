"""What only an isolated backend can promise, and that nothing of it stays."""

import contextlib
import os
import threading
import time

import pytest

from harness.errors import (
    CandidateCrashed,
    CandidateError,
    CandidateTimedOut,
    OutOfResources,
    SandboxBroken,
    SandboxUnavailable,
)
from harness.sandbox.base import Limits
from harness.sandbox.container import hardening, reaper
from harness.sandbox.container.engine import connect
from harness.sandbox.container.images import Image
from harness.sandbox.container.sandbox import ContainerSandbox
from harness.worker.supervisor import EXIT_DEADLINE

pytestmark = pytest.mark.docker


def containers(engine):
    """The containers of this process, by id."""
    mine = reaper.labels(0)[reaper.PROCESS_LABEL]
    found = engine.api.containers(all=True, filters={"label": f"{reaper.PROCESS_LABEL}={mine}"})
    return {entry["Id"] for entry in found}


def test_there_is_no_network(contained):
    contained.load(
        "import socket\n"
        "def families():\n"
        " made = []\n"
        " for family in range(46):\n"
        "  try: socket.socket(family, socket.SOCK_DGRAM).close(); made.append(family)\n"
        "  except OSError: pass\n"
        " return str(made)\n"
        "def interfaces(): return open('/proc/self/net/dev').read().count(':')\n"
        "def resolve(): socket.getaddrinfo('example.com', 80)\n"
    )
    assert contained.value("families") == str([1])  # AF_UNIX
    assert contained.value("interfaces") == 1  # lo
    assert contained.call("resolve").raised.kind in ("gaierror", "PermissionError")


def test_nothing_but_the_scratch_folders_can_be_written(contained):
    contained.load(
        "import os\n"
        "def writable():\n"
        " found = []\n"
        " for folder, _, _ in os.walk('/'):\n"
        "  if folder.startswith('/proc/'): continue\n"
        "  try:\n"
        "   with open(os.path.join(folder, 'x'), 'w'): found.append(folder)\n"
        "  except OSError: pass\n"
        " return str(sorted(found))"
    )
    (found,) = contained.call("writable", seconds=30).outs
    assert found == str(["/dev/shm", "/tmp"])


def test_the_user_has_no_rights(contained):
    contained.load(
        "def status():\n"
        " lines = [line.split() for line in open('/proc/self/status')]\n"
        " lines = {line[0].rstrip(':'): line[1] for line in lines if len(line) == 2}\n"
        " names = ('CapEff', 'CapBnd', 'CapInh', 'CapAmb', 'NoNewPrivs', 'Seccomp')\n"
        " return ' '.join(str(int(lines[name], 16)) for name in names)\n"
        "import os\n"
        "def user(): return f'{os.getuid()} {os.getgid()} {os.getgroups()}'"
    )
    assert contained.value("status") == "0 0 0 0 1 2"
    user, group, groups = contained.value("user").split()
    assert int(user) in hardening.USERS
    assert (group, groups) == (user, f"[{user}]")


def test_the_environment_holds_nothing_of_the_host(contained, monkeypatch):
    monkeypatch.setenv("TAKEHOME_CANARY", "secret")
    contained.load("import os\ndef names(): return ' '.join(sorted(os.environ))")
    assert set(contained.value("names").split()) == {
        *("HOME", "HOSTNAME", "LANG", "LC_CTYPE", "PATH"),
        *("MKL_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"),
        *("MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_", "NUMPY_MADVISE_HUGEPAGE"),
    } - ({"LC_CTYPE"} if "LC_CTYPE" not in contained.value("names") else set())


def test_a_fork_bomb_ends_with_its_call(contained):
    contained.load("import os\ndef bomb():\n while True:\n  try: os.fork()\n  except OSError: pass")
    with pytest.raises(CandidateTimedOut):
        contained.call("bomb")
    contained.load("import os\ndef count(): return sum(n.isdigit() for n in os.listdir('/proc'))")
    assert contained.value("count") == 2
    assert contained.sandbox.tainted


def test_a_thread_bomb_ends_with_its_call(contained):
    contained.load(
        "import threading, time\n"
        "def bomb():\n while True: threading.Thread(target=time.sleep, args=(99,)).start()"
    )
    assert contained.call("bomb").raised.kind == "RuntimeError"


@pytest.mark.parametrize("folder", ["/tmp", "/dev/shm"])
@pytest.mark.parametrize(
    "bomb",
    [
        "for i in range(100_000): open(f'{folder}/{i}', 'w').close()",
        "for i in range(100): open(f'{folder}/{i}', 'wb').write(b'x' * (1 << 20))",
    ],
)
def test_scratch_space_is_capped_in_bytes_and_in_files(contained, folder, bomb):
    contained.load(f"def fill(folder):\n {bomb}")
    assert "No space left" in contained.call("fill", folder).raised.message


def test_memory_that_runs_out_is_told_from_a_crash(contained):
    contained.load(
        "import os, signal\n"
        "def grab():\n kept = []\n while True: kept.append(bytearray(b'x' * (1 << 22)))\n"
        "def kill(): os.kill(os.getpid(), signal.SIGKILL)"
    )
    with pytest.raises(OutOfResources, match=r"memory \(limit 256 MiB\)"):
        contained.call("grab", seconds=5)
    contained.load("import os, signal\ndef kill(): os.kill(os.getpid(), signal.SIGKILL)")
    with pytest.raises(CandidateCrashed, match="signal 9"):
        contained.call("kill")


def test_memory_taken_by_many_processes_ends_the_submission(contained):
    contained.load(
        "import os, time\n"
        "def grab():\n"
        " for _ in range(40):\n"
        "  if os.fork() == 0:\n"
        "   kept = b'x' * (20 << 20); time.sleep(60)\n"
        " while True: pass"
    )
    with pytest.raises(CandidateError):
        contained.call("grab", seconds=3)
    contained.load("def fine(): return 1")
    assert contained.value("fine") == 1


@pytest.mark.parametrize(
    "attack",
    [
        "for number in range(1, 65):\n  if number != 17: os.kill(1, number)",
        "os.kill(-1, 9)",
        "open('/proc/1/mem', 'r+b')",
        "open('/proc/1/environ').read()",
        "os.readlink('/proc/1/fd/0')",
        "resource.prlimit(1, resource.RLIMIT_CPU, (0, 0))",
        "os.sched_setaffinity(1, {0})",
        "os.setpriority(os.PRIO_PROCESS, 1, 19)",
        "libc.ptrace(16, 1, 0, 0) == 0 or bad()",
        "open('/proc/1/oom_score_adj', 'w').write('1000')",
    ],
)
def test_the_supervisor_cannot_be_touched(contained, attack):
    contained.load(
        "import ctypes, os, resource\nlibc = ctypes.CDLL(None)\n"
        "def bad(): raise OSError('as wanted')\n"
        f"def attack():\n {attack}\ndef endless():\n while True: pass"
    )
    raised = contained.call("attack").raised
    assert raised is None or raised.kind in ("OSError", "PermissionError", "ProcessLookupError")
    assert raised is not None or "os.kill" in attack
    began = time.monotonic()
    with pytest.raises(CandidateTimedOut):
        contained.call("endless", seconds=0.5)
    assert time.monotonic() - began < 10


def test_a_flood_that_nobody_reads_any_more_does_not_hold_up_the_end(contained, engine):
    contained.load("import os\ndef flood():\n while True: os.write(2, b'x' * 65536)")
    began = time.monotonic()
    with pytest.raises(OutOfResources):
        contained.call("flood", seconds=30)
    contained.sandbox.close()
    assert time.monotonic() - began < 10
    assert not containers(engine)


@pytest.mark.parametrize(
    "leaving",
    [
        "open('/tmp/note', 'w').write('x')",
        "os.makedirs('/dev/shm/a/b'); os.chmod('/dev/shm/a', 0)",
        "os.symlink('/etc', '/tmp/link')",
        "os.chmod('/tmp', 0)",
        "open('/tmp/x', 'w').close(); os.chmod('/tmp', 0o500)",
        "os.fork() or time.sleep(60)",
    ],
)
def test_what_a_submission_leaves_is_removed_and_wears_the_sandbox(contained, leaving):
    contained.load(f"import os, time\ndef leave():\n {leaving}\n return 1")
    contained.value("leave")
    assert not contained.sandbox.tainted
    contained.sandbox.log()
    assert contained.sandbox.tainted
    contained.load(
        "import os\n"
        "def found():\n"
        " names = os.listdir('/tmp') + os.listdir('/dev/shm')\n"
        " return ' '.join(names) + str(sum(n.isdigit() for n in os.listdir('/proc')))"
    )
    assert contained.value("found") == "2"


def test_a_folder_that_cannot_be_removed_ends_the_container(contained, engine):
    contained.load(
        "import os\n"
        "def dig():\n os.chdir('/tmp')\n"
        " for _ in range(3000):\n  os.mkdir('d'); os.chdir('d')\n return 1"
    )
    assert contained.value("dig") == 1
    contained.sandbox.log()
    assert contained.sandbox.tainted
    contained.load("import os\ndef left(): return len(os.listdir('/tmp'))")
    assert contained.value("left") == 0


def test_a_clean_submission_does_not_wear_the_sandbox(contained, engine):
    contained.load("import subprocess\ndef f(): return len(subprocess.check_output(['ls', '/']))")
    assert contained.value("f") > 0
    before = containers(engine)
    contained.sandbox.log()
    assert not contained.sandbox.tainted
    contained.load("def g(): return 1")
    assert containers(engine) == before


def test_closing_removes_the_container(contained, engine):
    contained.load("def f(): return 1")
    assert len(containers(engine)) == 1
    contained.sandbox.close()
    assert not containers(engine)


@pytest.mark.parametrize("happening", ["kill", "pause"])
def test_what_is_done_to_a_container_from_outside_is_our_fault_and_it_is_replaced(
    contained, engine, happening
):
    contained.load("def f(): return 1")
    (identifier,) = containers(engine)
    getattr(engine.api, happening)(identifier)
    with pytest.raises(SandboxBroken, match="from outside"):
        contained.call("f", seconds=0.2)
    contained.load("def f(): return 1")
    assert contained.value("f") == 1
    assert containers(engine) - {identifier} and len(containers(engine)) == 1


def test_an_image_that_is_gone_is_unavailable(engine):
    image = Image(id="sha256:" + "0" * 64, name="takehome-x", python="/x", versions={})
    with pytest.raises(SandboxUnavailable, match="takehome image build"):
        ContainerSandbox(client=engine, image=image).start(b"", 1)
    assert not containers(engine)


def test_a_runtime_that_does_not_exist_is_unavailable_and_never_replaced(engine, image):
    sandbox = ContainerSandbox(client=engine, image=image, runtime="no-such-runtime")
    with pytest.raises(SandboxUnavailable, match="no-such-runtime"):
        sandbox.start(b"", 1)
    assert not containers(engine)


def test_an_image_whose_container_does_not_come_up_is_broken_not_scored(engine, image):
    broken = Image(id=image.id, name=image.name, python="/bin/false", versions={})
    with pytest.raises(SandboxBroken):
        ContainerSandbox(client=engine, image=broken).start(b"", 1)
    assert not containers(engine)


def test_a_container_leaves_at_its_own_deadline_though_nobody_tells_it_to(engine, image):
    arguments = hardening.create_arguments(
        engine.api, image, Limits(), user=64001, runtime=None, seconds=2.0, labels=reaper.labels(2)
    )
    identifier = engine.api.create_container(**arguments)["Id"]
    attached = engine.api.attach_socket(identifier, params={"stdin": 1, "stream": 1})
    try:
        engine.api.start(identifier)
        assert engine.api.wait(identifier, timeout=10)["StatusCode"] == EXIT_DEADLINE
    finally:
        attached._sock.close()
        attached.close()
        engine.api.remove_container(identifier, force=True)


@pytest.mark.slow
def test_two_hundred_submissions_leave_nothing_in_this_process_or_the_engine(
    contained, engine, image
):
    def resources():
        return (
            len(os.listdir("/proc/self/fd")),
            threading.active_count(),
            containers(engine),
            len(engine.api.volumes()["Volumes"] or []),
        )

    def grade(sandbox, source):
        driver = type(contained)(sandbox)
        driver.load(source)
        with contextlib.suppress(CandidateError):
            driver.call("f", seconds=0.3)
        sandbox.log()

    sources = [
        "def f(): return 1",
        "def f():\n while True: pass",
        "import os\ndef f(): os._exit(1)",
    ]
    resources()
    before = resources()
    # A client of its own: the SDK keeps up to 25 connections until it is closed.
    with contextlib.closing(connect()) as client:
        for place in range(10):
            with contextlib.closing(ContainerSandbox(client=client, image=image)) as sandbox:
                for number in range(20):
                    grade(sandbox, sources[(place + number) % len(sources)])
    assert resources() == before
