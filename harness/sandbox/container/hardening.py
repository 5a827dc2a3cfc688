"""How a container is created: every argument that keeps a submission in, in one place."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from docker import APIClient
from docker.types import LogConfig, Ulimit

from harness.sandbox.base import Limits
from harness.sandbox.container.images import Image
from harness.threads import ONE_THREAD

#: Users that are nobody on the host, which sees the same numbers without a user namespace. Each
#: container has another: the kernel counts pending signals, timers and locked memory per user, so
#: that with one user for all a submission could use up what its neighbours need. Below 65,536, as
#: a rootless engine maps no more.
USERS = range(62000, 65000)
#: Arrays from 512 KiB on are mapped, and unmapped when they are freed, by a threshold that does
#: not rise with what was freed before (mallopt(3)); numpy asks for no pages of 2 MiB. Readings of
#: memory are then off by 1.3 MB, where it was 3.7. A lower threshold costs right answers time.
EXACT_MEMORY = {
    "MALLOC_MMAP_THRESHOLD_": str(512 << 10),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 20),
    "NUMPY_MADVISE_HUGEPAGE": "0",
}
_SCRATCH_BYTES = 64 << 20
_SHARED_BYTES = 16 << 20


def create_arguments(
    api: APIClient,
    image: Image,
    limits: Limits,
    *,
    user: int,
    runtime: str | None,
    seconds: float,
    labels: Mapping[str, str],
) -> dict[str, Any]:
    """Return the arguments of ``create_container``.

    Args:
        user: its uid and gid, of `USERS`.
        seconds: how long it may live.
    """
    return {
        # By id: a name can be moved to another image.
        "image": image.id,
        "entrypoint": [image.python, "-I", "-S", "-B", "/opt/takehome"],
        "command": [f"{seconds:g}", str(limits.reply_bytes)],
        "user": f"{user}:{user}",
        "working_dir": "/tmp",
        "hostname": "sandbox",
        "tty": False,
        # Not detached: the engine closes standard input when the harness dies.
        "stdin_open": True,
        "environment": {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": "/tmp",
            "LANG": "C.UTF-8",
            **ONE_THREAD,
            **EXACT_MEMORY,
        },
        "use_config_proxy": False,
        "healthcheck": {"test": ["NONE"]},
        "stop_signal": "SIGKILL",
        "labels": dict(labels),
        "host_config": api.create_host_config(**_host_arguments(limits, user, runtime, seconds)),
    }


def _host_arguments(
    limits: Limits, user: int, runtime: str | None, seconds: float
) -> dict[str, Any]:
    profile = json.loads(Path(__file__).with_name("seccomp.json").read_text(encoding="ascii"))
    return {
        "network_mode": "none",
        "ipc_mode": "private",
        "cgroupns": "private",
        "privileged": False,
        "read_only": True,
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges:true", f"seccomp={json.dumps(profile)}"],
        "tmpfs": {
            "/tmp": _tmpfs(_SCRATCH_BYTES, 4096, user),
            "/dev/shm": _tmpfs(_SHARED_BYTES, 256, user),
        },
        "mem_limit": limits.memory_bytes,
        "memswap_limit": limits.memory_bytes,  # equal: no swap
        "pids_limit": limits.processes,
        "nano_cpus": 1_000_000_000,
        "oom_score_adj": 500,
        "ulimits": _ulimits(int(seconds)),
        "log_config": LogConfig(type=LogConfig.types.NONE),
        "restart_policy": {"Name": "no"},
        "auto_remove": False,  # it would take the exit code along
        "init": False,
        "runtime": runtime,
    }


def _tmpfs(size: int, inodes: int, user: int) -> str:
    # Without nr_inodes, empty files take kernel memory until the container is killed.
    return f"rw,noexec,nosuid,nodev,size={size},nr_inodes={inodes},mode=0700,uid={user},gid={user}"


def _ulimits(seconds: int) -> list[Ulimit]:
    # No nproc: it counts the processes of the uid, not of the container.
    limits = {
        "nofile": (256, 256),
        "core": (0, 0),
        "fsize": (_SCRATCH_BYTES, _SCRATCH_BYTES),
        "cpu": (seconds, seconds + 5),
        "memlock": (1 << 16, 1 << 16),
        "msgqueue": (0, 0),  # a queue would outlive its submission
        "stack": (8 << 20, 64 << 20),
    }
    return [Ulimit(name=name, soft=soft, hard=hard) for name, (soft, hard) in limits.items()]
