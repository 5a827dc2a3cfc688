"""What keeps a submission in, each as something that can be taken away."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

from harness.commands import probes
from harness.sandbox.container import container, hardening

#: Changes the arguments that a container is created with.
Alter = Callable[[dict[str, Any]], None]


def in_host_config(**changes: object) -> Alter:
    """Set arguments of the host's part."""
    return lambda arguments: arguments["host_config"].update(changes)


def in_scratch(old: str, new: str = "") -> Alter:
    """Change an option of the scratch folders, or leave it out, which may be what follows."""

    def alter(arguments: dict[str, Any]) -> None:
        tmpfs = arguments["host_config"]["Tmpfs"]
        for folder, options in tmpfs.items():
            kept = [new if option.startswith(old) else option for option in options.split(",")]
            tmpfs[folder] = ",".join(filter(None, kept))

    return alter


def without_filter(arguments: dict[str, Any]) -> None:
    """Let every system call through."""
    arguments["host_config"]["SecurityOpt"] = ["no-new-privileges:true", "seccomp=unconfined"]


def with_new_privileges(arguments: dict[str, Any]) -> None:
    """Let programs gain privileges.

    Not this alone: the filter is then loaded earlier, and denies what runc does after that.
    """
    arguments["host_config"]["SecurityOpt"] = ["seccomp=unconfined"]


def as_root(arguments: dict[str, Any]) -> None:
    """Run as the user 0."""
    arguments.update(user="0:0")


def with_variable(arguments: dict[str, Any]) -> None:
    """Pass a variable of the host on."""
    arguments["environment"]["SECRET"] = os.environ.get("TAKEHOME_CANARY", "x")


#: Defence -> how it is taken away. The names are those of the probes that have to notice.
DEFENCES: dict[str, Alter] = {
    "unprivileged user": as_root,
    "no capabilities": in_host_config(CapDrop=[]),
    "no new privileges": with_new_privileges,
    "system call filter": without_filter,
    "socket families": without_filter,
    "no network": in_host_config(NetworkMode="bridge"),
    "read-only files": in_host_config(ReadonlyRootfs=False),
    "process limit": in_host_config(PidsLimit=0),
    "memory limit": in_host_config(Memory=0, MemorySwap=0),
    "scratch size": in_scratch("size="),
    "scratch files": in_scratch("nr_inodes="),
    "scratch options": in_scratch("noexec", "exec"),  # left out, the engine adds it
    "mounts": in_host_config(Binds=["/etc:/host:ro"]),
    "environment": with_variable,
    "limits of a process": lambda arguments: arguments["host_config"].pop("Ulimits"),
    "no swap": in_host_config(MemorySwap=-1),
    "own control group": in_host_config(CgroupnsMode="host"),
    "own shared memory": in_host_config(IpcMode="host"),
    "processor limit": in_host_config(NanoCpus=0),
    "no log on disk": in_host_config(LogConfig={"Type": "json-file", "Config": {}}),
    "refused system calls": without_filter,
    "first to be killed": in_host_config(OomScoreAdj=0),
    "own deadline": lambda arguments: arguments["command"].__setitem__(0, "60"),
    "ends with the harness": lambda arguments: arguments.update(detach=True),
}

#: A case, and the defences that guard the same thing: without all of them it is red.
GUARDED: dict[str, tuple[Alter, ...]] = {
    "B05_dumps-environment": (with_variable,),
    "D14_runs-what-it-builds": (DEFENCES["scratch options"],),
    "F01_fork-bomb": (DEFENCES["process limit"],),
    "F02_threads": (DEFENCES["process limit"],),
    "F03_memory": (DEFENCES["memory limit"],),
    "F05_fills-scratch": (DEFENCES["scratch size"],),
    "F06_fills-names": (DEFENCES["scratch files"],),
    "F07_fills-the-image": (DEFENCES["read-only files"], as_root),
    "F18_open-files": (DEFENCES["limits of a process"],),
    "G01_network": (DEFENCES["no network"], without_filter),
    "G02_virtual-machine-sockets": (without_filter,),
    "G04_asynchronous-input": (without_filter,),
    "G07_becomes-another-user": (as_root, DEFENCES["no capabilities"], without_filter),
    "G08_the-engines-socket": (in_host_config(Binds=["/etc/hostname:/run/docker.sock:ro"]),),
    "G13_kernels-own-files": (DEFENCES["own control group"],),
}


@contextlib.contextmanager
def without(*taken: Alter) -> Iterator[None]:
    """Create containers that lack what is taken away."""

    def weakened(*arguments: Any, **keywords: Any) -> dict[str, Any]:
        made = hardening.create_arguments(*arguments, **keywords)
        for alter in taken:
            alter(made)
        return made

    with (
        mock.patch.object(container, "create_arguments", weakened),
        mock.patch.object(probes, "create_arguments", weakened),
        mock.patch.object(probes, "_PATIENCE_SECONDS", 3),
    ):
        yield
