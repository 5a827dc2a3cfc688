"""What a sandbox must hold: probes of a live container, never of flags.

A flag says what the engine was asked for. A rootless engine on cgroup v1, for one, takes the
limits and ignores them. So a hostile submission (``sandbox/container/intruder.py``) is run
as any other, and what counts is how far it came.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib.resources
import os
import secrets
import socket
import time
from collections.abc import Callable, Iterator

import docker

from harness.candidate import SandboxSession
from harness.errors import CandidateError, OutOfResources, SandboxBroken
from harness.intake import SourceFile, Submission
from harness.protocol import Call, Output
from harness.sandbox import Limits
from harness.sandbox.container import (
    ENGINE_ERRORS,
    USERS,
    ContainerSandbox,
    Image,
    create_arguments,
    labels,
)
from harness.worker.supervisor import EXIT_DEADLINE

PROMPT_SECONDS = 2.0  #: a kill, and the end of a flood, take no longer
_PATIENCE_SECONDS = 10
_LIFE_SECONDS = 60.0
_SCRATCH = {"/tmp": (64 << 20, 4096), "/dev/shm": (16 << 20, 256)}  #: bytes, files


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What one probe found."""

    name: str
    ok: bool
    measured: str  #: what was seen, with its unit
    advice: str = ""  #: what to do about it; empty when it is ok


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SandboxUnderTest:
    """The sandbox under examination."""

    client: docker.DockerClient
    image: Image
    limits: Limits
    runtime: str | None
    shared: ContainerSandbox | None = None  #: asks everything, one after another

    def sandbox(self) -> ContainerSandbox:
        """Return a sandbox made as for a grading."""
        return ContainerSandbox(
            client=self.client, image=self.image, limits=self.limits, runtime=self.runtime
        )

    def ask(self, function: str, *arguments: int | str) -> tuple[Output, ...]:
        """Return what a function of the intruder returns in a sandbox of its own, or the shared."""
        if self.shared is not None:
            return self.ask_in(self.shared, function, *arguments)
        with contextlib.closing(self.sandbox()) as sandbox:
            return self.ask_in(sandbox, function, *arguments)

    def ask_in(
        self, sandbox: ContainerSandbox, function: str, *arguments: int | str
    ) -> tuple[Output, ...]:
        """Return what a function of the intruder returns in ``sandbox``."""
        session = SandboxSession(
            _intruder(), sandbox, self.limits, arrays="numpy", blocked=False, clock=time.monotonic
        )
        (answer,) = session.exchange([Call(name=function, arguments=arguments)])
        if answer.raised is not None:
            raise answer.raised
        return answer.outs

    @contextlib.contextmanager
    def container(self, seconds: float) -> Iterator[tuple[str, socket.socket]]:
        """Start a bare container that may live ``seconds``; give its id and our end of it."""
        api = self.client.api
        arguments = create_arguments(
            api,
            self.image,
            self.limits,
            user=secrets.choice(USERS),
            runtime=self.runtime,
            seconds=seconds,
            labels=labels(seconds),
        )
        container = api.create_container(**arguments)["Id"]
        attached = api.attach_socket(container, params={"stdin": 1, "stdout": 1, "stream": 1})
        ours: socket.socket = attached._sock
        try:
            api.start(container)
            yield container, ours
        finally:
            hang_up(ours)
            attached.close()
            api.remove_container(container, force=True, v=True)


def _intruder() -> Submission:
    source = (
        importlib.resources.files("harness")
        .joinpath("sandbox", "container", "intruder.py")
        .read_bytes()
    )
    return Submission(
        id="intruder",
        sha256="",
        origin="script",
        entry="intruder.py",
        files=(SourceFile(name="intruder.py", data=source),),
        notes=(),
    )


def hang_up(ours: socket.socket) -> None:
    """Close our end for good: other objects may hold the same socket."""
    with contextlib.suppress(OSError):
        ours.shutdown(socket.SHUT_RDWR)
    ours.close()


Measurement = tuple[bool, str]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One thing that a sandbox must hold."""

    name: str
    measure: Callable[[SandboxUnderTest], Measurement]
    advice: str
    reads: bool = False  #: it changes nothing, so that a container can be shared with others

    def run(self, sandbox: SandboxUnderTest) -> Finding:
        """Take the measurement; one that breaks is a finding too."""
        try:
            ok, measured = self.measure(sandbox)
        except (CandidateError, SandboxBroken, *ENGINE_ERRORS) as error:
            ok, measured = False, f"the probe broke: {type(error).__name__}: {error}"
        return Finding(name=self.name, ok=ok, measured=measured, advice="" if ok else self.advice)


def _user(sandbox: SandboxUnderTest) -> Measurement:
    user, group = sandbox.ask("identity")
    return user != 0 and group != 0, f"uid {user}, gid {group}"


def _capabilities(sandbox: SandboxUnderTest) -> Measurement:
    effective, permitted, bounding = (int(str(value), 16) for value in sandbox.ask("capabilities"))
    none = not (effective or permitted or bounding)
    return none, f"effective {effective:x}, permitted {permitted:x}, bounding {bounding:x}"


def _no_new_privileges(sandbox: SandboxUnderTest) -> Measurement:
    (value,) = sandbox.ask("status", "NoNewPrivs")
    return value == "1", f"NoNewPrivs {value}"


def _seccomp(sandbox: SandboxUnderTest) -> Measurement:
    (mode,) = sandbox.ask("status", "Seccomp")
    return mode == "2", f"mode {mode} (2 is a filter)"


def _socket_families(sandbox: SandboxUnderTest) -> Measurement:
    (families,) = sandbox.ask("socket_families")
    return not families, f"Unix {families}".strip()


def _no_network(sandbox: SandboxUnderTest) -> Measurement:
    (names,) = sandbox.ask("interfaces")
    return names in ("lo", ""), f"interfaces: {names or 'none'}"


def _read_only(sandbox: SandboxUnderTest) -> Measurement:
    flags = sandbox.ask("root_flags")[0]
    (folders,) = sandbox.ask("writable_folders")
    read_only = isinstance(flags, int) and bool(flags & os.ST_RDONLY)
    mounted = "read-only" if read_only else "writable"
    return read_only and not folders, f"root is {mounted}; files in: {folders or 'none'}"


def _processes(sandbox: SandboxUnderTest) -> Measurement:
    most = sandbox.limits.processes
    (count,) = sandbox.ask("fork_until_refused", most + most // 10 + 1)
    return isinstance(count, int) and count < most, f"{count} forks of {most} processes"


def _memory(sandbox: SandboxUnderTest) -> Measurement:
    most = sandbox.limits.memory_bytes
    began = time.monotonic()
    try:
        sandbox.ask("take_memory", most + most // 10)
    except OutOfResources:
        return True, f"killed {time.monotonic() - began:.2f} s after asking for {most >> 20} MiB"
    return False, f"more than {most >> 20} MiB were used"


def _scratch_bytes(sandbox: SandboxUnderTest) -> Measurement:
    taken = {
        folder: sandbox.ask("fill", folder, most + most // 10)[0]
        for folder, (most, _) in _SCRATCH.items()
    }
    ok = all(isinstance(size, int) and size <= _SCRATCH[where][0] for where, size in taken.items())
    return ok, ", ".join(
        f"{where} took {int(str(size)) >> 20} MiB" for where, size in taken.items()
    )


def _scratch_files(sandbox: SandboxUnderTest) -> Measurement:
    taken = {
        folder: sandbox.ask("fill_with_names", folder, most + most // 10)[0]
        for folder, (_, most) in _SCRATCH.items()
    }
    ok = all(
        isinstance(count, int) and count < _SCRATCH[where][1] for where, count in taken.items()
    )
    return ok, ", ".join(f"{where} took {count} files" for where, count in taken.items())


def _kill(tested: SandboxUnderTest) -> Measurement:
    sandbox = tested.sandbox()
    try:
        tested.ask_in(sandbox, "leave_a_spinner")
    finally:
        began = time.monotonic()
        sandbox.close()
        seconds = time.monotonic() - began
    return seconds < PROMPT_SECONDS, f"gone after {seconds:.2f} s"


def _flood(tested: SandboxUnderTest) -> Measurement:
    sandbox = tested.sandbox()
    try:
        tested.ask_in(sandbox, "identity")
        began = time.monotonic()
        with contextlib.suppress(OutOfResources):
            tested.ask_in(sandbox, "flood")
            return False, "it printed as much as it liked"
    finally:
        sandbox.close()
    seconds = time.monotonic() - began
    return seconds < PROMPT_SECONDS, f"stopped and gone after {seconds:.2f} s"


def _deadline(sandbox: SandboxUnderTest) -> Measurement:
    with sandbox.container(1.0) as (container, _):
        code, seconds = _wait(sandbox, container)
    return code == EXIT_DEADLINE, f"deadline 1 s: exit status {code} after {seconds:.2f} s"


def _hang_up(sandbox: SandboxUnderTest) -> Measurement:
    with sandbox.container(_LIFE_SECONDS) as (container, ours):
        hang_up(ours)
        code, seconds = _wait(sandbox, container)
    return code == 0, f"exit status {code} after {seconds:.2f} s"


def _wait(sandbox: SandboxUnderTest, container: str) -> tuple[int | None, float]:
    """Return the exit status of a container that should end by itself, and after how long."""
    began = time.monotonic()
    try:
        code = sandbox.client.api.wait(container, timeout=_PATIENCE_SECONDS)["StatusCode"]
    except ENGINE_ERRORS:
        code = None
    return code, time.monotonic() - began


KERNEL = "the engine does not enforce what it is asked for; use a rootful engine on a stock kernel"
LIMITS_IGNORED = (
    "the engine does not enforce its limits; check `docker info` for warnings on cgroups"
)

PROBES = (
    Probe(name="unprivileged user", measure=_user, advice=KERNEL, reads=True),
    Probe(name="no capabilities", measure=_capabilities, advice=KERNEL, reads=True),
    Probe(name="no new privileges", measure=_no_new_privileges, advice=KERNEL, reads=True),
    Probe(
        name="system call filter",
        measure=_seccomp,
        advice="the kernel or the engine has no seccomp; `docker info` must list it",
        reads=True,
    ),
    Probe(
        name="socket families",
        measure=_socket_families,
        advice="the system call filter does not hold; `docker info` must list seccomp",
        reads=True,
    ),
    Probe(name="no network", measure=_no_network, advice=KERNEL, reads=True),
    Probe(name="read-only files", measure=_read_only, advice=KERNEL, reads=True),
    Probe(name="process limit", measure=_processes, advice=LIMITS_IGNORED),
    Probe(name="memory limit", measure=_memory, advice=LIMITS_IGNORED),
    Probe(name="scratch size", measure=_scratch_bytes, advice=KERNEL),
    Probe(name="scratch files", measure=_scratch_files, advice=KERNEL),
    Probe(
        name="kill",
        measure=_kill,
        advice="the engine is slow to kill; restart it, and look for containers that hang",
    ),
    Probe(
        name="flood",
        measure=_flood,
        advice="the engine is slow under output; restart it, and look for containers that hang",
    ),
    Probe(
        name="own deadline",
        measure=_deadline,
        advice="containers would outlive a harness that dies; rebuild with `takehome image build`",
    ),
    Probe(
        name="ends with the harness",
        measure=_hang_up,
        advice="the engine does not close standard input when its client goes",
    ),
)
